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

const everyone = {
  address:
    'Requests from one client address (for IPv6: one /64) that count towards no member: without a token, with a refused token, and to coursegate’s own endpoints. Behind a proxy, set `listen.trustedProxies`.',
  member: 'Requests of one member, across all apps.',
  client: 'Requests of one app, across all members. An assistant that many members use is one app.',
};

/** Limits on callers and single requests. A route can override some of them. */
export const limits = z
  .strictObject({
    address: rate.prefault({ requests: 6000, per: '1m' }).describe(everyone.address),
    member: rate.prefault({ requests: 1200, per: '1m' }).describe(everyone.member),
    client: rate.prefault({ requests: 60_000, per: '1m' }).describe(everyone.client),
    attempts: rate.prefault({ requests: 300, per: '1m' }).meta({
      description:
        'Failed requests from one client address to the endpoints where codes, tokens or secrets could be guessed.',
    }),
    open: z
      .strictObject({
        address: positive.default(1000).describe('Requests, streams and WebSockets of one client address.'),
        member: positive.default(100).describe('Requests and streams of one member.'),
      })
      .prefault({})
      .describe('Requests open at the same time. Each process counts separately.'),
    requestBody: sizeOrUnlimited.prefault('10MiB').meta({
      description:
        'Largest request body that routes accept. Larger ones get 413, and the upstream never gets the complete request.',
    }),
    responseBody: sizeOrUnlimited.prefault('unlimited').meta({
      description:
        'Largest response body that routes pass on. Larger ones become a 502 or a closed connection. Event streams are not limited.',
    }),
    headers: headSize.prefault('16KiB').describe('Largest request line and headers together. Larger ones get 431.'),
  })
  .transform((given) => ({ ...given, url: LONGEST_URL }));

/** The limits that a route can override. */
export const routeLimits = {
  limits: z
    .strictObject({
      address: rate.optional().describe(everyone.address),
      member: rate.optional().describe(everyone.member),
    })
    .optional()
    .describe('Limits for this route, counted separately, instead of the general ones.'),
  bodyLimit: sizeOrUnlimited
    .optional()
    .describe('Largest request body that this route accepts. Defaults to `limits.requestBody`.'),
};
