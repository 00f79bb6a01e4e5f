import { z } from 'zod';
import { secretReference } from './secret-reference.ts';

const pemFile = z.string().min(1);

/** Who may give commands on the admin listener. */
export const admin = z.strictObject({
  hmac: z
    .strictObject({
      secret: secretReference.meta({ description: 'Shared with the backend: 32 characters or more.' }),
      previous: secretReference.optional().meta({
        description: 'The one before, while the backend moves on to the new one. Both are taken.',
      }),
    })
    .optional()
    .meta({ description: 'Commands that the backend signs with a shared secret (docs/backend-events.md).' }),
  mtls: z
    .strictObject({
      cert: pemFile.meta({ description: 'The certificate of the admin listener, with its chain: a PEM file.' }),
      key: pemFile.meta({ description: 'Its private key: a PEM file.' }),
      clientCa: pemFile.meta({ description: 'The authority whose client certificates may command: a PEM file.' }),
      names: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .meta({ description: 'The only DNS names in client certificates; left out, every certificate of clientCa.' }),
    })
    .optional()
    .meta({
      description:
        'Commands by client certificate. The admin listener then speaks TLS only; health and metrics need no certificate.',
    }),
});
