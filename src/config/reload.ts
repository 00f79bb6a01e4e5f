import { z } from 'zod';
import { RELOAD_GRACE } from './constants.ts';

/** How a new configuration replaces the current one while the gate is running. */
export const reload = z
  .strictObject({
    watch: z.boolean().default(true).meta({
      description:
        'Whether a change to the configuration file, or to a file that it names, is applied automatically. SIGHUP always applies it.',
    }),
  })
  .transform((given) => ({ ...given, grace: RELOAD_GRACE }));
