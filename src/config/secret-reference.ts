import { z } from 'zod';

/** Refers to a secret in the environment or in a separate file. Secrets are never written in the configuration. */
export const secretReference = z
  .union(
    [
      z.strictObject({ env: z.string().min(1).meta({ description: 'Environment variable that holds the secret.' }) }),
      z.strictObject({
        file: z.string().min(1).meta({
          description:
            'File that holds nothing but the secret. It is read again on reload. One newline at its end is ignored.',
        }),
      }),
    ],
    'must be { env: NAME } or { file: PATH }: secrets are never written in this file',
  )
  .meta({ description: 'Where to read the secret: { env: NAME } or { file: PATH }.' });

export type SecretReference = z.output<typeof secretReference>;
