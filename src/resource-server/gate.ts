import type { Challenge } from '../oauth/challenge.ts';
import { type Credentials, parseAuthorization, type Scheme } from '../oauth/credentials.ts';
import type { ActiveToken, Introspect, Introspection } from '../oauth/introspection.ts';
import { ANONYMOUS, type MemberPrincipal, type Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import { covers, type Scope } from '../oauth/scope.ts';
import type { CheckProof } from './dpop.ts';

/** What a protected route asks of whoever comes. */
export interface Protection {
  readonly resource: ProtectedResource;
  readonly scopes: Scope;
  /** What a challenge for a token names when that is more than the route itself needs; left out, what it needs. */
  readonly offered?: Scope;
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
  | {
      readonly kind: 'admitted';
      readonly principal: Principal;
      /** When what was shown runs out, in Unix seconds; undefined: nothing was. */
      readonly expires?: number;
    }
  | {
      readonly kind: 'refused';
      readonly challenge: Challenge;
      /** Whether what was shown is a token of ours: live, but not for this. */
      readonly known: boolean;
      /** Whose it is then. */
      readonly principal?: MemberPrincipal;
    };

/**
 * In: what the request shows, and what the route asks. Out: the verdict, at once when nothing has to be waited for.
 * Throws `store_unavailable`.
 */
export type Gate = (presented: Presented, protection: Protection) => Verdict | Promise<Verdict>;

/**
 * The one decision that admits or refuses every access token. Its order is its meaning: nothing shown, malformed,
 * inactive, wrong resource, expired, wrong scheme, unproved key, too little scope (RFC 6750 §3.1, RFC 8707 §2,
 * RFC 9449 §7, RFC 9728 §5.1). A proof is asked for only with a token that is good: nobody else gets to spend our
 * signature checks or our store.
 */
export function createGate(introspect: Introspect, checkProof: CheckProof, now: () => number): Gate {
  // One principal for a token as long as it is remembered: what is kept for a principal is then found by itself.
  const principals = new WeakMap<ActiveToken, MemberPrincipal>();

  const principalOf = (token: ActiveToken): MemberPrincipal => {
    const known = principals.get(token);
    if (known !== undefined) return known;
    const { sub, email, name, scope, clientId, grantId } = token;
    const principal = { kind: 'member', sub, email, name, scope, clientId, grantId } as const;
    principals.set(token, principal);
    return principal;
  };

  return (presented, protection) => {
    const credentials = parseAuthorization(presented.authorization);
    if (credentials.kind === 'none') {
      if (protection.anonymous === 'serve') return { kind: 'admitted', principal: ANONYMOUS };
      return unknown('Bearer', 'an access token is needed', protection);
    }
    const { scheme } = credentials;
    if (credentials.kind === 'malformed') return unknown(scheme, credentials.reason, protection);
    const token = introspect(credentials.token);
    if (token instanceof Promise) return token.then((answer) => judge(answer, credentials, presented, protection));
    return judge(token, credentials, presented, protection);
  };

  function judge(
    token: Introspection,
    credentials: Extract<Credentials, { kind: 'token' }>,
    presented: Presented,
    protection: Protection,
  ): Verdict | Promise<Verdict> {
    if (!token.active) return unknown(credentials.scheme, 'the access token is not valid, or no longer', protection);
    const verdict = judgeActive(token, credentials, presented, protection);
    const named = (of: Verdict): Verdict => (of.kind === 'refused' ? { ...of, principal: principalOf(token) } : of);
    return verdict instanceof Promise ? verdict.then(named) : named(verdict);
  }

  function judgeActive(
    token: ActiveToken,
    { scheme, token: shown }: Extract<Credentials, { kind: 'token' }>,
    presented: Presented,
    protection: Protection,
  ): Verdict | Promise<Verdict> {
    const { resource } = protection;
    // A foreign audience beside ours would make our token a key to somebody else's door: exactly ours, or refused.
    const [audience] = token.aud;
    if (audience === undefined || token.aud.length > 1 || !resource.audiences.includes(audience)) {
      return unauthorized(scheme, 'the access token was issued for another resource', protection);
    }
    if (token.exp <= now()) return unauthorized(scheme, 'the access token has expired', protection);

    // Sent as Bearer, a bound token proves nothing: that is how a thief would send it.
    if (scheme === 'Bearer') {
      if (token.jkt === undefined) return judgeScope(token, scheme, protection);
      const reason = 'the access token is bound to a key: send it with the DPoP scheme and a proof';
      return unauthorized(scheme, reason, protection);
    }
    if (token.jkt === undefined) {
      const reason = 'the access token is not bound to a key: send it with the Bearer scheme';
      return unauthorized(scheme, reason, protection);
    }
    const { dpop: proofs, method, url } = presented;
    return checkProof({ proofs, method, url, token: shown, jkt: token.jkt }).then((flaw) => {
      if (flaw === undefined) return judgeScope(token, scheme, protection);
      return refuse(scheme, 401, flaw.error, flaw.description, protection, protection.offered ?? protection.scopes);
    });
  }

  function judgeScope(token: ActiveToken, scheme: Scheme, protection: Protection): Verdict {
    if (covers(token.scope, protection.scopes)) {
      return { kind: 'admitted', principal: principalOf(token), expires: token.exp };
    }
    const union = new Set([...token.scope, ...protection.scopes]);
    const description = 'the access token lacks a scope that is needed here';
    return refuse(scheme, 403, 'insufficient_scope', description, protection, union);
  }
}

type Refused = Extract<Verdict, { readonly kind: 'refused' }>;

function unknown(scheme: Scheme, description: string, protection: Protection): Verdict {
  return { ...unauthorized(scheme, description, protection), known: false };
}

/** For a request whose token was good until the backend ended what it stands on. In: every Authorization field. */
export function signInAgain(authorization: readonly string[], protection: Protection): Challenge {
  const { resource, offered, scopes } = protection;
  const shown = parseAuthorization(authorization);
  return {
    scheme: shown.kind === 'none' ? 'Bearer' : shown.scheme,
    status: 401,
    error: 'invalid_token',
    description: 'the member must sign in again',
    resourceMetadata: resource.metadataUrl,
    scope: offered ?? scopes,
  };
}

function unauthorized(scheme: Scheme, description: string, protection: Protection): Refused {
  return refuse(scheme, 401, 'invalid_token', description, protection, protection.offered ?? protection.scopes);
}

function refuse(
  scheme: Scheme,
  status: 401 | 403,
  error: Challenge['error'],
  description: string,
  { resource }: Protection,
  scope: Scope,
): Refused {
  const resourceMetadata = resource.metadataUrl;
  return { kind: 'refused', known: true, challenge: { scheme, status, error, description, resourceMetadata, scope } };
}
