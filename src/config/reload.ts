import { z } from 'zod';
import { duration } from './units.ts';

/** How a configuration takes the place of the one before it, while the gate runs. */
export const reload = z.strictObject({
  watch: z.boolean().default(true).meta({
    description:
      'Whether a change of the configuration file, or of a file that it names, is taken over by itself; SIGHUP always does.',
  }),
  grace: duration.prefault('1h').meta({
    description:
      'How long what began under the old configuration may go on, event streams and WebSockets too; then they are ended, and clients connect anew.',
  }),
});
