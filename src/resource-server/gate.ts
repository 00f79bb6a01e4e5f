import type { Challenge } from '../oauth/challenge.ts';
import { parseAuthorization } from '../oauth/credentials.ts';
import type { Introspect } from '../oauth/introspection.ts';
import { ANONYMOUS, type Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import { covers, type Scope } from '../oauth/scope.ts';
import type { CheckProof } from './dpop.ts';

/** What a protected route asks of whoever comes. */
export interface Protection {
  readonly resource: ProtectedResource;
  readonly scopes: Scope;
  /** Whether a request without a token is refused, or served as anonymous. A bad token is refused either way. */
  readonly anonymous: 'refuse' | 'serve';
}

/** What a request shows at the gate. */
export interface Presented {
  /** Every Authorization field. */
  readonly authorization: readonly string[];
  /** Every DPoP field. */
  readonly dpop: readonly string[];
  readonly method: string;
  /** Absolute: the configured origin and the canonical path, never what the client says of either. */
  readonly url: string;
}

export type Verdict =
  | { readonly kind: 'admitted'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly challenge: Challenge };

/** In: what the request shows, and what the route asks. Throws `store_unavailable`. */
export type Gate = (presented: Presented, protection: Protection) => Promise<Verdict>;

/**
 * The one decision that admits or refuses every access token. Its order is its meaning: nothing shown, malformed,
 * inactive, wrong resource, expired, wrong scheme, unproved key, too little scope (RFC 6750 §3.1, RFC 8707 §2,
 * RFC 9449 §7, RFC 9728 §5.1). A proof is asked for only with a token that is good: nobody else gets to spend our
 * signature checks or our store.
 */
export function createGate(introspect: Introspect, checkProof: CheckProof, now: () => number): Gate {
  return async (presented, protection) => {
    const { resource, scopes } = protection;
    const credentials = parseAuthorization(presented.authorization);
    if (credentials.kind === 'none' && protection.anonymous === 'serve') {
      return { kind: 'admitted', principal: ANONYMOUS };
    }

    const scheme = credentials.kind === 'none' ? 'Bearer' : credentials.scheme;
    const refuse = (status: 401 | 403, error: Challenge['error'], description: string, scope: Scope): Verdict => ({
      kind: 'refused',
      challenge: { scheme, status, error, description, resourceMetadata: resource.metadataUrl, scope },
    });
    const unauthorized = (description: string) => refuse(401, 'invalid_token', description, scopes);

    if (credentials.kind === 'none') return unauthorized('an access token is needed');
    if (credentials.kind === 'malformed') return unauthorized(credentials.reason);

    const token = await introspect(credentials.token);
    if (!token.active) return unauthorized('the access token is not valid, or no longer');
    // A foreign audience beside ours would make our token a key to somebody else's door: exactly ours, or refused.
    const [audience, ...others] = token.aud;
    if (audience === undefined || others.length > 0 || !resource.audiences.includes(audience)) {
      return unauthorized('the access token was issued for another resource');
    }
    if (token.exp <= now()) return unauthorized('the access token has expired');

    // Sent as Bearer, a bound token proves nothing: that is how a thief would send it.
    if (scheme === 'Bearer' && token.jkt !== undefined) {
      return unauthorized('the access token is bound to a key: send it with the DPoP scheme and a proof');
    }
    if (scheme === 'DPoP') {
      if (token.jkt === undefined) {
        return unauthorized('the access token is not bound to a key: send it with the Bearer scheme');
      }
      const { dpop: proofs, method, url } = presented;
      const flaw = await checkProof({ proofs, method, url, token: credentials.token, jkt: token.jkt });
      if (flaw !== undefined) return refuse(401, flaw.error, flaw.description, scopes);
    }

    if (!covers(token.scope, scopes)) {
      const union = new Set([...token.scope, ...scopes]);
      return refuse(403, 'insufficient_scope', 'the access token lacks a scope that is needed here', union);
    }
    const { sub, email, name, scope, clientId, grantId } = token;
    return { kind: 'admitted', principal: { kind: 'member', sub, email, name, scope, clientId, grantId } };
  };
}
