import type { Scheme } from './credentials.ts';
import { DPOP_ALGORITHMS } from './dpop.ts';
import type { ProtectedResource } from './protected-resource.ts';
import { formatScope, type Scope } from './scope.ts';

/** A refusal as a value, before it becomes a status and a header field (RFC 6750 section 3, RFC 9728 section 5.1). */
export interface Challenge {
  /** The scheme that the client used; Bearer by default. */
  readonly scheme: Scheme;
  readonly status: 401 | 403;
  readonly error: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof';
  readonly description: string;
  readonly resourceMetadata: string;
  /** The scope to request. For 403, granted plus needed scopes, so that the client keeps what it has. */
  readonly scope: Scope;
  /** For 403, the scopes that this operation needs. */
  readonly needed?: Scope;
}

/** The refusal of a member's request whose session at the backend is over: the member must sign in again. */
export const SESSION_OVER = 'session_over';
export type SessionOver = typeof SESSION_OVER;

/** What was requested. */
interface Requested {
  readonly resource: Pick<ProtectedResource, 'metadataUrl'>;
  /** The scopes that it needs. */
  readonly scopes: Scope;
  /** The scopes that a 401 names, if more than those. */
  readonly offered?: Scope | undefined;
}

/** 401: the token is missing or cannot be used. */
export function unauthorized(
  scheme: Scheme,
  { resource, scopes, offered = scopes }: Requested,
  description: string,
  error: Challenge['error'] = 'invalid_token',
): Challenge {
  return { scheme, status: 401, error, description, resourceMetadata: resource.metadataUrl, scope: offered };
}

/** 403: the token is valid and lacks a scope. */
export function insufficientScope(
  scheme: Scheme,
  { resource, scopes }: Requested,
  granted: Scope,
  description: string,
): Challenge {
  const scope = new Set([...granted, ...scopes]);
  return {
    scheme,
    status: 403,
    error: 'insufficient_scope',
    description,
    resourceMetadata: resource.metadataUrl,
    scope,
    needed: scopes,
  };
}

/** The first revision of MCP whose clients add the scopes that they have (SEP-2350). */
const CLIENTS_ADD = '2026-07-28';
const REVISION = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/;

/**
 * The challenge as a client expects it that sent this `MCP-Protocol-Version`. Clients of earlier revisions, and of plain
 * HTTP, request exactly what a challenge names; so does one whose revision is unknown, as far as the gate can tell.
 */
export function challengeIn(revision: unknown, challenge: Challenge): Challenge {
  const { needed } = challenge;
  if (needed === undefined || typeof revision !== 'string' || !REVISION.test(revision) || revision < CLIENTS_ADD)
    return challenge;
  return { ...challenge, scope: needed };
}

/** A quoted-string (RFC 9110 section 5.6.4). Characters that it cannot contain become '?'. */
function quoted(value: string): string {
  return `"${value.replace(/[^\t\x20-\x7E]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Serialises a challenge as one WWW-Authenticate field value (RFC 6750 section 3, RFC 9449 section 7.1, RFC 9728
 * section 5.1).
 */
export function formatChallenge(challenge: Challenge): string {
  const parameters = [
    `error=${quoted(challenge.error)}`,
    `error_description=${quoted(challenge.description)}`,
    `resource_metadata=${quoted(challenge.resourceMetadata)}`,
  ];
  if (challenge.scheme === 'DPoP') parameters.push(`algs=${quoted(DPOP_ALGORITHMS.join(' '))}`);
  if (challenge.scope.size > 0) parameters.push(`scope=${quoted(formatScope(challenge.scope))}`);
  return `${challenge.scheme} ${parameters.join(', ')}`;
}
