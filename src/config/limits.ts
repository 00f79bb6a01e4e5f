import { z } from 'zod';
import { rate, size, sizeOrUnlimited } from './units.ts';

const atMost = (most: number, text: string) => size.pipe(z.number().min(1024, 'must be at least 1KiB').max(most, text));

const everyone = {
  address:
    'Requests of one client address (of IPv6: one /64) that no member is answerable for: without a token, with one that is refused, and at our own endpoints. Behind a proxy, set listen.trustedProxies.',
  member: 'Requests of one member, whichever app makes them.',
  client: 'Requests of one app, for all its members together: an assistant that many use is one app.',
};

/** What one caller, and one request, may ask for, for all routes; a route may say otherwise for itself. */
export const limits = z.strictObject({
  address: rate.prefault({ requests: 6000, per: '1m' }).meta({ description: everyone.address }),
  member: rate.prefault({ requests: 1200, per: '1m' }).meta({ description: everyone.member }),
  client: rate.prefault({ requests: 60_000, per: '1m' }).meta({ description: everyone.client }),
  attempts: rate.prefault({ requests: 300, per: '1m' }).meta({
    description:
      'Requests of one client address that fail at the endpoints where codes, tokens and secrets could be guessed.',
  }),
  open: z
    .strictObject({
      address: z
        .int()
        .min(1)
        .default(1000)
        .meta({ description: 'Requests, streams and WebSockets of one client address at the same time.' }),
      member: z.int().min(1).default(100).meta({ description: 'Requests and streams of one member at the same time.' }),
    })
    .prefault({})
    .meta({ description: 'Counted by each process for itself.' }),
  requestBody: sizeOrUnlimited.prefault('10MiB').meta({
    description:
      'The most that a route takes of a request body: beyond it 413, and the upstream gets no whole request.',
  }),
  responseBody: sizeOrUnlimited.prefault('unlimited').meta({
    description:
      'The most that a route passes on of an answer: beyond it 502 or a cut connection. Event streams have no end and no limit.',
  }),
  headers: atMost(1024 ** 2, 'must be at most 1MiB')
    .prefault('16KiB')
    .meta({
      description: 'The most that the first line and the fields of a request take together: beyond it 431.',
    }),
  url: atMost(8192, 'must be at most 8KiB').prefault('8KiB').meta({
    description: 'The longest path and query: beyond it 414.',
  }),
});

/** What a route may say of its own. */
export const routeLimits = {
  limits: z
    .strictObject({
      address: rate.optional().meta({ description: everyone.address }),
      member: rate.optional().meta({ description: everyone.member }),
      client: rate.optional().meta({ description: everyone.client }),
    })
    .optional()
    .meta({ description: 'Limits of this route, counted by themselves, in place of those for all routes.' }),
  bodyLimit: sizeOrUnlimited.optional().meta({
    description: 'The most that this route takes of a request body; left out, limits.requestBody.',
  }),
  responseLimit: sizeOrUnlimited.optional().meta({
    description: 'The most that this route passes on of an answer; left out, limits.responseBody.',
  }),
};
