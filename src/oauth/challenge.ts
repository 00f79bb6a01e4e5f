import type { Scheme } from './credentials.ts';
import { DPOP_ALGORITHMS } from './dpop.ts';
import { formatScope, type Scope } from './scope.ts';

/** A refusal as a value: what the client is told, before it becomes a status and a header (RFC 6750 §3, RFC 9728 §5.1). */
export interface Challenge {
  /** The scheme that the client used; Bearer when it used none. */
  readonly scheme: Scheme;
  readonly status: 401 | 403;
  readonly error: 'invalid_token' | 'insufficient_scope' | 'invalid_dpop_proof';
  readonly description: string;
  readonly resourceMetadata: string;
  /** The scope that would do: for 403 the granted scope plus the needed one, so that a client asking anew loses nothing. */
  readonly scope: Scope;
}

/** RFC 9110 §5.6.4 quoted-string; characters outside it cannot be sent and become '?'. */
function quoted(value: string): string {
  return `"${value.replace(/[^\t\x20-\x7E]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

/** Serialises a challenge as one WWW-Authenticate field value (RFC 6750 §3, RFC 9449 §7.1, RFC 9728 §5.1). */
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
