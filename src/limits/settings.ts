import { z } from 'zod';
import { LONGEST_URL } from '../config/constants.ts';
import { positive } from '../config/name.ts';
import { rate, size, sizeOrUnlimited } from '../config/units.ts';

const headSize = size.pipe(
  z
    .number()
    .min(1024, 'must be at least 1KiB')
    .max(1024 ** 2, 'must be at most 1MiB'),
);

/** Limits on callers and single requests. A route can override some of them. */
export const limits = z
  .strictObject({
    address: rate.prefault({ requests: 6000, per: '1m' }),
    member: rate.prefault({ requests: 1200, per: '1m' }),
    client: rate.prefault({ requests: 60_000, per: '1m' }),
    attempts: rate.prefault({ requests: 300, per: '1m' }),
    open: z
      .strictObject({
        address: positive.default(1000),
        member: positive.default(100),
      })
      .prefault({}),
    requestBody: sizeOrUnlimited.prefault('10MiB'),
    responseBody: sizeOrUnlimited.prefault('unlimited'),
    headers: headSize.prefault('16KiB'),
  })
  .transform((given) => ({ ...given, url: LONGEST_URL }));

/** The limits that a route can override. */
export const routeLimits = {
  limits: z
    .strictObject({
      address: rate.optional(),
      member: rate.optional(),
    })
    .optional(),
  bodyLimit: sizeOrUnlimited.optional(),
};
