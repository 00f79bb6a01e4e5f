import { z } from 'zod';
import { text } from '../../config/name.ts';
import { credentialLogin } from '../settings.ts';

/** Recheck does not apply: the file itself says whether a member still exists. */
const { recheck: _, ...withoutRecheck } = credentialLogin;

/** Login by a file that lists the members and their password hashes. */
export const directoryLogin = z.strictObject({
  kind: z.literal('directory'),
  file: text,
  ...withoutRecheck,
});

export type DirectoryLoginConfig = z.output<typeof directoryLogin>;
