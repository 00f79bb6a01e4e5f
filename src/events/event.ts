import { createHash, randomUUID } from 'node:crypto';
import type { EventType } from '../config/events.ts';

/** An app, as the backend is told of it. */
export interface EventClient {
  readonly id: string;
  /** As it calls itself: nobody has checked it. */
  readonly name?: string | undefined;
  /** Where its codes go: a host; `localhost` or a scheme for an app on the member's own device. */
  readonly host?: string | undefined;
  /** Whether it registered itself, or is known by the document at its id. */
  readonly kind: 'registered' | 'document';
}

/** One connection of a member with an app. */
export interface EventGrant {
  readonly id: string;
  readonly member: string;
  readonly client: EventClient;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
}

/** Who ended a connection, and why. */
export interface Ending {
  readonly by: 'member' | 'app' | 'backend' | 'operator' | 'gate';
  readonly reason: EndReason;
  /** What who decided says of it. */
  readonly note?: string | undefined;
}

export type EndReason =
  /** The member did, on the page of connected apps. */
  | 'disconnected'
  /** The app gave its token back (RFC 7009). */
  | 'token_revoked'
  /** The app is gone, and all that it was let in for. */
  | 'client_deleted'
  /** Commands of the backend or the operator. */
  | 'member_revoked'
  | 'member_suspended'
  | 'member_resumed'
  | 'client_revoked'
  | 'grant_revoked'
  /** What the backend says of the member: gone, inactive, or with another version, as after a new password. */
  | 'member_gone'
  | 'member_inactive'
  | 'version_changed'
  /** The session at the backend is over that the app acted with. */
  | 'session_over'
  /** Somebody came with what had been used (RFC 9700 §4.14.2, §4.5). */
  | 'code_reuse'
  | 'refresh_token_reuse';

/** Why requests were refused; as in the challenge, where there is one. */
export interface Refusals {
  readonly reason: string;
  readonly client: EventClient | undefined;
  readonly member: string | undefined;
  readonly grantId: string | undefined;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Something that happened, ready to be written down. It holds ids and names: never a code, a token or a secret. */
export interface GateEvent {
  readonly type: EventType;
  /** Of the message: one for one occurrence, however often it is written or sent. */
  readonly id: string;
  /** Events of one lane are sent in their order; undefined: in none. */
  readonly lane: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The member approved. The app has nothing yet. */
export function consentGiven(grant: EventGrant): GateEvent {
  return ofGrant('consent.given', grant, {});
}

/** The app has its tokens: it acts for the member from now on. In: when that ends by itself, in Unix seconds. */
export function grantCreated(grant: EventGrant, expiresAt: number | undefined): GateEvent {
  return ofGrant('grant.created', grant, {
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt * 1000).toISOString() }),
  });
}

export function grantRevoked(grant: EventGrant, { by, reason, note }: Ending): GateEvent {
  return ofGrant('grant.revoked', grant, { by, reason, ...(note === undefined ? {} : { note }) });
}

/** In: the authorization request's own id, what it asked for, and the member; undefined when nobody was signed in. */
export function consentDenied(
  request: string,
  asked: { readonly scopes: readonly string[]; readonly resources: readonly string[] },
  client: EventClient,
  member: string | undefined,
): GateEvent {
  const type = 'consent.denied';
  const data = { client, ...(member === undefined ? {} : { member: { id: member } }), ...asked };
  return { type, id: messageId(type, request), lane: undefined, data };
}

export function clientEvent(type: 'client.registered' | 'client.updated' | 'client.deleted', client: EventClient) {
  // It is registered once and deleted once, and may be updated any number of times.
  const id = type === 'client.updated' ? messageId(type, randomUUID()) : messageId(type, client.id);
  return { type, id, lane: `client ${client.id}`, data: { client } } satisfies GateEvent;
}

/** In: what one replica refused within one minute, and a name for that replica and minute. */
export function accessRefused(refusals: Refusals, counted: string): GateEvent {
  const type = 'access.refused';
  const { reason, client, member, grantId, count, firstAt, lastAt } = refusals;
  const data = {
    reason,
    count,
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
    ...(client === undefined ? {} : { client }),
    ...(member === undefined ? {} : { member: { id: member } }),
    ...(grantId === undefined ? {} : { grant_id: grantId }),
  };
  return { type, id: messageId(type, counted, reason, client?.id, member), lane: undefined, data };
}

function ofGrant(type: EventType, { id, member, client, scopes, resources }: EventGrant, more: object): GateEvent {
  const data = { grant_id: id, member: { id: member }, client, scopes, resources, ...more };
  return { type, id: messageId(type, id), lane: `grant ${id}`, data };
}

/** The same for the same occurrence: written twice, it is one; sent twice, the receiver knows it again. */
function messageId(...parts: readonly (string | undefined)[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}`;
}
