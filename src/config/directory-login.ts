import { z } from 'zod';
import { credentialLogin } from './own-sign-in.ts';

/** Whether a member is still one is written in the file itself: nobody else need be asked. */
const { recheck: _, ...withoutRecheck } = credentialLogin;

/** The members are in a file of ours. */
export const directoryLogin = z.strictObject({
  kind: z.literal('directory'),
  file: z.string().min(1).meta({
    description: 'The file of the members, as a path beside this file. Read again whenever it has changed.',
  }),
  ...withoutRecheck,
});
