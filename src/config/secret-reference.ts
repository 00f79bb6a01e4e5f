import { z } from 'zod';

/** A secret is never written in the file: it is named, and read from the environment or from a file of its own. */
export const secretReference = z
  .union(
    [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
    'must be { env: NAME } or { file: PATH }: a secret is never written here itself',
  )
  .meta({ description: 'Where a secret is read: { env: NAME } or { file: PATH }.' });

export type SecretReference = z.output<typeof secretReference>;
