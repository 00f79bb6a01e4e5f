import { z } from 'zod';
import { upstreamName } from './name.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';

/** The event types. `schema/events.schema.json` defines their payloads. */
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

/** Events sent to the backend as webhooks, signed as specified by Standard Webhooks. */
export const events = z.strictObject({
  upstream: upstreamName,
  path: z
    .string()
    .regex(/^\/[\x21-\x7E]*$/, 'must be a path such as /coursegate/events')
    .refine((path) => !/[#\\]/.test(path), 'must not contain # or \\')
    .meta({
      description: 'Path at the upstream that receives them, such as /coursegate/events. Each event is one POST.',
    }),
  secret: secretReference.meta({
    description:
      'Signing secret shared with the backend: whsec_ followed by 24 to 64 bytes in Base64 (echo "whsec_$(openssl rand -base64 32)").',
  }),
  previous: secretReference.optional().meta({
    description: 'The previous secret, while the backend switches to the new one. Each event is signed with both.',
  }),
  types: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .default([...EVENT_TYPES])
    .meta({ description: 'Event types to send. Defaults to all.' }),
  maxAge: duration
    .refine((seconds) => seconds >= 60 && seconds <= 30 * 86_400, 'must be from 1m to 30d')
    .prefault('3d')
    .meta({ description: 'How long delivery of an event is retried before it is dropped and logged.' }),
  maxPending: z.int().min(100).max(100_000).default(10_000).meta({
    description:
      'Most undelivered events, across all replicas. Beyond that, the oldest `access.refused` events are dropped first, then `client.*` events; events whose loss is logged are dropped last.',
  }),
});

export type EventsConfig = z.output<typeof events>;
