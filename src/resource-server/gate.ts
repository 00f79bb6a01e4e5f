import { parseAuthorization } from '../oauth/bearer.ts';
import type { Challenge } from '../oauth/challenge.ts';
import type { Introspect } from '../oauth/introspection.ts';
import { ANONYMOUS, type Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import { covers, type Scope } from '../oauth/scope.ts';

/** What a protected route asks of whoever comes. */
export interface Protection {
  readonly resource: ProtectedResource;
  readonly scopes: Scope;
  /** Whether a request without a token is refused, or served as anonymous. A bad token is refused either way. */
  readonly anonymous: 'refuse' | 'serve';
}

export type Verdict =
  | { readonly kind: 'admitted'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly challenge: Challenge };

/** In: every Authorization field of the request, and what the route asks. Throws `store_unavailable`. */
export type Gate = (authorization: readonly string[], protection: Protection) => Promise<Verdict>;

/**
 * The one decision that admits or refuses every bearer token. Its order is its meaning: nothing shown, malformed,
 * inactive, wrong resource, expired, too little scope (RFC 6750 §3.1, RFC 8707 §2, RFC 9728 §5.1).
 */
export function createGate(introspect: Introspect, now: () => number): Gate {
  return async (authorization, protection) => {
    const { resource, scopes } = protection;
    const unauthorized = (description: string): Verdict =>
      refuse(401, 'invalid_token', description, resource.metadataUrl, scopes);

    const credentials = parseAuthorization(authorization);
    if (credentials.kind === 'none') {
      return protection.anonymous === 'serve'
        ? { kind: 'admitted', principal: ANONYMOUS }
        : unauthorized('an access token is needed');
    }
    if (credentials.kind === 'malformed') return unauthorized(credentials.reason);

    const token = await introspect(credentials.token);
    if (!token.active) return unauthorized('the access token is not valid, or no longer');
    // A foreign audience beside ours would make our token a key to somebody else's door: exactly ours, or refused.
    if (token.aud.length !== 1 || token.aud[0] !== resource.resource) {
      return unauthorized('the access token was issued for another resource');
    }
    if (token.exp <= now()) return unauthorized('the access token has expired');
    if (!covers(token.scope, scopes)) {
      const union = new Set([...token.scope, ...scopes]);
      return refuse(
        403,
        'insufficient_scope',
        'the access token lacks a scope that is needed here',
        resource.metadataUrl,
        union,
      );
    }
    const { sub, email, name, scope, clientId, grantId } = token;
    return { kind: 'admitted', principal: { kind: 'member', sub, email, name, scope, clientId, grantId } };
  };
}

function refuse(
  status: 401 | 403,
  error: Challenge['error'],
  description: string,
  resourceMetadata: string,
  scope: Scope,
): Verdict {
  return { kind: 'refused', challenge: { status, error, description, resourceMetadata, scope } };
}
