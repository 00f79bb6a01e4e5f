import { z } from 'zod';
import { secretReference } from './secret-reference.ts';

const pemFile = z.string().min(1);

/** Who may run commands on the admin listener. */
export const admin = z.strictObject({
  hmac: z
    .strictObject({
      secret: secretReference.meta({ description: 'Secret shared with the backend: at least 32 characters.' }),
      previous: secretReference.optional().meta({
        description: 'The previous secret, still accepted while the backend switches to the new one.',
      }),
    })
    .optional()
    .meta({ description: 'Commands that the backend signs with a shared secret (docs/backend-events.md).' }),
  mtls: z
    .strictObject({
      cert: pemFile.meta({ description: 'PEM file with the certificate chain of the admin listener.' }),
      key: pemFile.meta({ description: 'PEM file with its private key.' }),
      clientCa: pemFile.meta({
        description: 'PEM file with the certificate authority whose client certificates are accepted.',
      }),
      names: z.array(z.string().min(1)).min(1).optional().meta({
        description:
          'DNS names that client certificates are limited to. If omitted, every certificate issued by `clientCa` is accepted.',
      }),
    })
    .optional()
    .meta({
      description:
        'Commands authenticated by client certificate. The admin listener then speaks TLS only. Health and metrics need no certificate.',
    }),
});
