import { z } from 'zod';
import { upstreamName } from './name.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';

/** What the backend can be told of. `schema/events.schema.json` says what each holds. */
const EVENT_TYPES = [
  'consent.given',
  'consent.denied',
  'grant.created',
  'grant.revoked',
  'client.registered',
  'client.updated',
  'client.deleted',
  'access.refused',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** What is told to the backend, signed as Standard Webhooks says. */
export const events = z.strictObject({
  upstream: upstreamName,
  path: z
    .string()
    .regex(/^\/[\x21-\x7E]*$/, 'must be a path such as /coursegate/events')
    .refine((path) => !/[#\\]/.test(path), 'must hold no # and no \\')
    .meta({ description: 'Where the upstream takes them: a path such as /coursegate/events. Each event is one POST.' }),
  secret: secretReference.meta({
    description:
      'What they are signed with: whsec_ and 24 to 64 bytes in Base64 (echo "whsec_$(openssl rand -base64 32)"). The backend has the same.',
  }),
  previous: secretReference.optional().meta({
    description: 'The one before, while the backend moves on to the new one. Each event is signed with both.',
  }),
  types: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .default([...EVENT_TYPES])
    .meta({ description: 'Which events are sent; left out, all.' }),
  maxAge: duration
    .refine((seconds) => seconds >= 60 && seconds <= 30 * 86_400, 'must be from 1m to 30d')
    .prefault('3d')
    .meta({ description: 'How long an event is tried again before it is given up, which the log tells.' }),
  maxPending: z.int().min(100).max(100_000).default(10_000).meta({
    description:
      'Events that wait at most, of all replicas. Beyond it the oldest refusals go first, then those of clients; what the log tells goes last.',
  }),
});

export type EventsConfig = z.output<typeof events>;
