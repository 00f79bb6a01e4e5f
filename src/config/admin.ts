import { z } from 'zod';
import { name, pointer, text } from './name.ts';
import { LONG_ENOUGH, pemFile, secret } from './secret.ts';

const memberEvent = z.enum(['revoke', 'suspend', 'resume']);

export type MemberEvent = z.output<typeof memberEvent>;

/** A webhook of the platform that the members belong to, whatever its shape. */
const webhook = z.strictObject({
  secret: secret(LONG_ENOUGH),
  member: pointer,
  event: z.union(
    [
      memberEvent,
      z
        .record(pointer, z.record(z.string(), memberEvent))
        .refine((given) => Object.keys(given).length === 1, 'must have one JSON pointer'),
    ],
    'must be revoke, suspend or resume, or these by the values at a JSON pointer: { /type: { user.deleted: revoke } }',
  ),
});

export type WebhookConfig = z.output<typeof webhook>;

/** Who may run commands on the admin listener. */
export const admin = z.strictObject({
  hmac: z
    .strictObject({
      secret: secret(LONG_ENOUGH),
      previous: secret(LONG_ENOUGH).optional(),
    })
    .optional(),
  mtls: z
    .strictObject({
      cert: pemFile('certificate'),
      key: pemFile('key'),
      clientCa: pemFile('authority'),
      names: z.array(text).min(1).optional(),
    })
    .optional(),
  webhooks: z.record(name, webhook).default({}),
});
