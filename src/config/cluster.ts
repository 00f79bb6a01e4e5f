import { z } from 'zod';

/** Several worker processes on one machine. */
export const cluster = z.strictObject({
  workers: z
    .union([z.literal('auto'), z.int().min(1).max(128)], 'must be auto, or a number from 1 to 128')
    .default('auto')
    .meta({ description: 'Number of worker processes, or `auto` for as many as the available cores allow.' }),
});
