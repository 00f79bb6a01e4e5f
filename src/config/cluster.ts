import { z } from 'zod';

/** A gate as several processes on one machine. */
export const cluster = z.strictObject({
  workers: z
    .union([z.literal('auto'), z.int().min(1).max(128)], 'must be auto, or a number of processes from 1 to 128')
    .default('auto')
    .meta({ description: 'How many processes serve: a number, or `auto` for as many as there are cores for them.' }),
});
