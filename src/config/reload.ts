import { z } from 'zod';
import { duration } from './units.ts';

/** How a new configuration replaces the current one while the gate is running. */
export const reload = z.strictObject({
  watch: z.boolean().default(true).meta({
    description:
      'Whether a change to the configuration file, or to a file that it names, is applied automatically. SIGHUP always applies it.',
  }),
  grace: duration.prefault('1h').meta({
    description:
      'How long requests, event streams and WebSockets that began under the old configuration may continue. After that they are closed, and clients reconnect.',
  }),
});
