import { z } from 'zod';

/** A secret is never written in the file: it is named, and read from the environment or from a file of its own. */
export const secretReference = z
  .union(
    [
      z.strictObject({ env: z.string().min(1).meta({ description: 'The environment variable that holds it.' }) }),
      z.strictObject({
        file: z.string().min(1).meta({
          description: 'The file that holds it alone; read again at a reload. One newline at its end does not count.',
        }),
      }),
    ],
    'must be { env: NAME } or { file: PATH }: a secret is never written here itself',
  )
  .meta({ description: 'Where a secret is read: { env: NAME } or { file: PATH }.' });

export type SecretReference = z.output<typeof secretReference>;
