import { z } from 'zod';
import { text } from './name.ts';
import { LONG_ENOUGH, pemFile, secret } from './secret.ts';

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
});
