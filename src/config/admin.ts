import { z } from 'zod';
import { name, pointer, text } from './name.ts';
import { LONG_ENOUGH, pemFile, secret } from './secret.ts';

const memberEvent = z.enum(['revoke', 'suspend', 'resume']);

export type MemberEvent = z.output<typeof memberEvent>;

/** A webhook of the platform that the members belong to, whatever its shape. */
const webhook = z.strictObject({
  secret: secret(
    LONG_ENOUGH,
    'Secret that the platform signs the body with (HMAC-SHA256), or sends in a header: at least 32 characters.',
  ),
  member: pointer.describe('JSON pointer to the ID of the member in the body, which is JSON or a form.'),
  event: z
    .union(
      [
        memberEvent,
        z
          .record(pointer, z.record(z.string(), memberEvent))
          .refine((given) => Object.keys(given).length === 1, 'must have one JSON pointer'),
      ],
      'must be revoke, suspend or resume, or these by the values at a JSON pointer: { /type: { user.deleted: revoke } }',
    )
    .describe(
      'What it means for the member. If that depends on the body: what each value at a JSON pointer means, { /type: { user.deleted: revoke } }. Other values have no effect.',
    ),
});

export type WebhookConfig = z.output<typeof webhook>;

/** Who may run commands on the admin listener. */
export const admin = z.strictObject({
  hmac: z
    .strictObject({
      secret: secret(LONG_ENOUGH, 'Secret shared with the backend: at least 32 characters.'),
      previous: secret(
        LONG_ENOUGH,
        'The previous secret, still accepted while the backend switches to the new one.',
      ).optional(),
    })
    .optional()
    .describe('Commands that the backend signs with a shared secret (docs/backend-events.md).'),
  mtls: z
    .strictObject({
      cert: pemFile('certificate', 'PEM file with the certificate chain of the admin listener.'),
      key: pemFile('key', 'PEM file with its private key.'),
      clientCa: pemFile('authority', 'PEM file with the certificate authority whose client certificates are accepted.'),
      names: z.array(text).min(1).optional().meta({
        description:
          'DNS names that client certificates are limited to. If omitted, every certificate issued by `clientCa` is accepted.',
      }),
    })
    .optional()
    .describe(
      'Commands authenticated by client certificate. The admin listener then speaks TLS only. Health and metrics need no certificate.',
    ),
  webhooks: z
    .record(name, webhook)
    .default({})
    .describe(
      'Webhooks of your platform that end or suspend access, by name: it sends them to `POST /webhooks/NAME` on the admin listener (docs/backend-events.md).',
    ),
});
