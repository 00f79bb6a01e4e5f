import type { Scheme } from './credentials.ts';
import { DPOP_ALGORITHMS } from './dpop.ts';
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
