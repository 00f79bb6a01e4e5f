import { type Challenge, insufficientScope, unauthorized } from '../oauth/challenge.ts';
import { type Credentials, parseAuthorization, type Scheme } from '../oauth/credentials.ts';
import type { ActiveToken, Introspect, Introspection } from '../oauth/introspection.ts';
import { ANONYMOUS, type MemberPrincipal, type Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import { covers, type Scope } from '../oauth/scope.ts';
import type { CheckProof } from './dpop.ts';

/** What a protected route requires of a request. */
export interface Protection {
  readonly resource: ProtectedResource;
  readonly scopes: Scope;
  /** The scopes that a challenge names, if more than the route requires. Defaults to `scopes`. */
  readonly offered?: Scope;
  /** Whether a request without a token is refused or served as anonymous. An invalid token is always refused. */
  readonly anonymous: 'refuse' | 'serve';
}

/** The credentials of a request, and what a DPoP proof must match. */
export interface Presented {
  /** Every Authorization field. */
  readonly authorization: readonly string[];
  /** Every DPoP field. */
  readonly dpop: readonly string[];
  readonly method: string;
  /** Absolute URL, built from the configured origin and the canonical path, never from what the client sent. */
  readonly url: string;
}

export type Decision =
  | {
      readonly kind: 'admitted';
      readonly principal: Principal;
      /** When the token expires, in Unix seconds; undefined for an anonymous request. */
      readonly expires?: number;
    }
  | {
      readonly kind: 'refused';
      readonly challenge: Challenge;
      /** Whether the request carried an active token of this gate that does not fit this request. */
      readonly known: boolean;
      /** The owner of that token. */
      readonly principal?: MemberPrincipal;
    };

/**
 * Decides about one request. Synchronous when the token is cached and needs no DPoP proof. Throws, or rejects with,
 * `store_unavailable`.
 */
export type Gate = (presented: Presented, protection: Protection) => Decision | Promise<Decision>;

/**
 * The one decision that admits or refuses every access token. The order of the checks matters: missing, malformed,
 * inactive, wrong resource, expired, wrong scheme, unproved key, insufficient scope (RFC 6750 section 3.1, RFC 8707
 * section 2, RFC 9449 section 7, RFC 9728 section 5.1). A proof is verified only for a valid token, so that only token
 * holders can make the gate check signatures and write to the store.
 */
export function createGate(introspect: Introspect, checkProof: CheckProof, now: () => number): Gate {
  // The same principal object for as long as a token is cached, so that other modules can use it as a WeakMap key.
  const principals = new WeakMap<ActiveToken, MemberPrincipal>();

  const principalOf = (token: ActiveToken): MemberPrincipal => {
    const known = principals.get(token);
    if (known !== undefined) return known;
    const { sub, details, scope, clientId, grantId } = token;
    const principal = { kind: 'member', sub, details, scope, clientId, grantId } as const;
    principals.set(token, principal);
    return principal;
  };

  return (presented, protection) => {
    const credentials = parseAuthorization(presented.authorization);
    if (credentials.kind === 'none') {
      if (protection.anonymous === 'serve') return { kind: 'admitted', principal: ANONYMOUS };
      return unknown(unauthorized('Bearer', protection, 'an access token is needed'));
    }
    const { scheme } = credentials;
    if (credentials.kind === 'malformed') return unknown(unauthorized(scheme, protection, credentials.reason));
    const token = introspect(credentials.token);
    if (token instanceof Promise) return token.then((answer) => decide(answer, credentials, presented, protection));
    return decide(token, credentials, presented, protection);
  };

  function decide(
    token: Introspection,
    credentials: Extract<Credentials, { kind: 'token' }>,
    presented: Presented,
    protection: Protection,
  ): Decision | Promise<Decision> {
    if (!token.active)
      return unknown(unauthorized(credentials.scheme, protection, 'the access token is invalid, expired or revoked'));
    const decision = decideActive(token, credentials, presented, protection);
    const named = (of: Decision): Decision => (of.kind === 'refused' ? { ...of, principal: principalOf(token) } : of);
    return decision instanceof Promise ? decision.then(named) : named(decision);
  }

  function decideActive(
    token: ActiveToken,
    { scheme, token: shown }: Extract<Credentials, { kind: 'token' }>,
    presented: Presented,
    protection: Protection,
  ): Decision | Promise<Decision> {
    const bad = (reason: string, error?: Challenge['error']) => refuse(unauthorized(scheme, protection, reason, error));
    // Exactly one audience, and ours: with a second one, the token could also be used at another service.
    const [audience] = token.aud;
    if (audience === undefined || token.aud.length > 1 || !protection.resource.audiences.includes(audience))
      return bad('the access token was issued for another resource');
    if (token.exp <= now()) return bad('the access token has expired');

    // A key-bound token sent as Bearer is refused: that is how a stolen token would be sent.
    if (scheme === 'Bearer') {
      if (token.jkt === undefined) return decideScope(token, scheme, protection);
      return bad('the access token is bound to a key: send it with the DPoP scheme and a proof');
    }
    if (token.jkt === undefined) return bad('the access token is not bound to a key: send it with the Bearer scheme');
    const { dpop: proofs, method, url } = presented;
    return checkProof({ proofs, method, url, token: shown, jkt: token.jkt }).then((flaw) => {
      if (flaw === undefined) return decideScope(token, scheme, protection);
      return bad(flaw.description, flaw.error);
    });
  }

  function decideScope(token: ActiveToken, scheme: Scheme, protection: Protection): Decision {
    if (covers(token.scope, protection.scopes))
      return { kind: 'admitted', principal: principalOf(token), expires: token.exp };
    const reason = 'the access token lacks a scope that is needed here';
    return refuse(insufficientScope(scheme, protection, token.scope, reason));
  }
}

function refuse(challenge: Challenge): Decision {
  return { kind: 'refused', known: true, challenge };
}

function unknown(challenge: Challenge): Decision {
  return { kind: 'refused', known: false, challenge };
}
