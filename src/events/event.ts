import { createHash, randomUUID } from 'node:crypto';

/** Which events are more important than others. */
export type EventClass = 'refusal' | 'client' | 'grant';

/**
 * The event types, whose payloads `schema/events.schema.json` defines. `rank` is the order within a lane: timestamps are
 * not enough, since the clocks of replicas may differ.
 */
export const EVENT_TYPES = {
  'consent.given': { class: 'grant', rank: 0 },
  'consent.denied': { class: 'grant', rank: 0 },
  'grant.created': { class: 'grant', rank: 1 },
  'grant.revoked': { class: 'grant', rank: 2 },
  'client.registered': { class: 'client', rank: 0 },
  'client.updated': { class: 'client', rank: 1 },
  'client.deleted': { class: 'client', rank: 2 },
  'access.refused': { class: 'refusal', rank: 0 },
} as const satisfies Record<string, { readonly class: EventClass; readonly rank: number }>;

export type EventType = keyof typeof EVENT_TYPES;

/** An app, as described to the backend. */
export interface EventClient {
  readonly id: string;
  /** Chosen by the app and not verified. */
  readonly name?: string | undefined;
  /** Where its codes are sent: a host, or `localhost` or a scheme for an app on the member's device. */
  readonly host?: string | undefined;
  /** Registered dynamically, or known by a client ID metadata document. */
  readonly kind: 'registered' | 'document';
}

/** One connection between a member and an app. */
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
  /** A remark by the actor. */
  readonly note?: string | undefined;
}

export type EndReason =
  /** By the member, on the page of connected apps. */
  | 'disconnected'
  /** The app revoked its token (RFC 7009). */
  | 'token_revoked'
  /** The app was deleted, with all its grants. */
  | 'client_deleted'
  /** By a command of the backend or the operator. */
  | 'member_revoked'
  | 'member_suspended'
  | 'member_resumed'
  | 'client_revoked'
  | 'grant_revoked'
  /**
   * The backend reports the member as deleted, inactive, or with a new version, for example after a password change.
   */
  | 'member_gone'
  | 'member_inactive'
  | 'version_changed'
  /** The backend session that the app acted with has ended. */
  | 'session_over'
  /** A code or a refresh token was used a second time (RFC 9700 sections 4.5 and 4.14.2). */
  | 'code_reuse'
  | 'refresh_token_reuse';

/** Refused requests, counted together. `reason` is the error code of the challenge, if there was one. */
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

/** An event, ready to be queued. It contains ids and names, never a code, a token or a secret. */
export interface GateEvent {
  readonly type: EventType;
  /** The message id. The same occurrence always has the same id, however often it is stored or sent. */
  readonly id: string;
  /** Events of one lane are sent in order; undefined when the order does not matter. */
  readonly lane: string | undefined;
  /** What is undefined is left out. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The member approved. The app has no tokens yet. */
export function consentGiven(grant: EventGrant): GateEvent {
  return ofGrant('consent.given', grant, {});
}

/** The app has its tokens and can act for the member. `expiresAt` is in Unix seconds. */
export function grantCreated(grant: EventGrant, expiresAt: number | undefined): GateEvent {
  const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt * 1000).toISOString();
  return ofGrant('grant.created', grant, { expires_at });
}

export function grantRevoked(grant: EventGrant, { by, reason, note }: Ending): GateEvent {
  return ofGrant('grant.revoked', grant, { by, reason, note });
}

/** `request` is the id of the authorization request; `member` is undefined when no member was signed in. */
export function consentDenied(
  request: string,
  asked: { readonly scopes: readonly string[]; readonly resources: readonly string[] },
  client: EventClient,
  member: string | undefined,
): GateEvent {
  const type = 'consent.denied';
  const data = { client, member: memberNamed(member), ...asked };
  return { type, id: messageId(type, request), lane: undefined, data };
}

export function clientEvent(type: 'client.registered' | 'client.updated' | 'client.deleted', client: EventClient) {
  // A client is registered once and deleted once, but can be updated many times, so each update has an id of its own.
  const id = type === 'client.updated' ? messageId(type, randomUUID()) : messageId(type, client.id);
  return { type, id, lane: `client ${client.id}`, data: { client } } satisfies GateEvent;
}

/** `counted` identifies the replica and the minute in which the requests were refused. */
export function accessRefused(refusals: Refusals, counted: string): GateEvent {
  const type = 'access.refused';
  const { reason, client, member, grantId, count, firstAt, lastAt } = refusals;
  const data = {
    reason,
    count,
    first_at: new Date(firstAt).toISOString(),
    last_at: new Date(lastAt).toISOString(),
    client,
    member: memberNamed(member),
    grant_id: grantId,
  };
  return { type, id: messageId(type, counted, reason, client?.id, member), lane: undefined, data };
}

function memberNamed(id: string | undefined) {
  return id === undefined ? undefined : { id };
}

function ofGrant(type: EventType, { id, member, client, scopes, resources }: EventGrant, more: object): GateEvent {
  const data = { grant_id: id, member: { id: member }, client, scopes, resources, ...more };
  return { type, id: messageId(type, id), lane: `grant ${id}`, data };
}

/** Derived from the occurrence, so that storing it twice has no effect and receivers can discard duplicates. */
function messageId(...parts: readonly (string | undefined)[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 32)}`;
}
