import { hash, type KeyObject, type webcrypto } from 'node:crypto';
import { SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { UpstreamConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { knownDetails } from '../oauth/member-details.ts';
import type { MemberPrincipal, Principal } from '../oauth/principal.ts';
import { formatScope } from '../oauth/scope.ts';

export interface SigningKey {
  readonly kid: string;
  readonly key: webcrypto.CryptoKey | KeyObject;
}

/**
 * Returns the fields that tell an upstream who a request acts for; not a promise if they are cached, and empty for an
 * anonymous principal.
 * Throws GatewayError `internal` if a member or client id cannot be sent in a header, and whatever the key source
 * throws.
 * @param kinds the kinds of identity that the upstream is configured for
 * @param bound the one request that the assertion is for; omitted: any request of the member
 */
export type IdentityFor = (
  principal: Principal,
  upstreamName: string,
  kinds: UpstreamConfig['identity'],
  bound?: BoundRequest,
) => Fields | Promise<Fields>;

/** A request that another server forwards. The claims of its assertion are those of a DPoP proof (RFC 9449 section 4.2). */
interface BoundRequest {
  readonly method: string;
  /** Absolute URL without a query. */
  readonly url: string;
}

type Fields = Readonly<Record<string, string>>;

/**
 * Lifetime of an assertion in seconds, and for how many milliseconds it is reused: at least half of its lifetime is
 * always left.
 */
const LIFETIME = 60;
const REUSED = 30_000;

const ANONYMOUS_FIELDS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Creates the identity headers: `X-Member-*` and `X-Client-Id` for backends in a private network, and
 * `X-Coursegate-Assertion`, an ES256 JWT (RFC 7519) that a backend can verify with our published keys. Signing costs
 * more than proxying, so the fields are cached for 30 s per grant, scope and upstream.
 */
export function createIdentity(options: {
  issuer: string;
  signingKey: () => Promise<SigningKey>;
  /** The current key's id: assertions signed with another key are not reused. Omitted: the key never changes. */
  kid?: () => string;
  /** Milliseconds since the epoch. */
  clock: () => number;
}): IdentityFor {
  const kept = new LRUCache<string, Kept>({ max: 10_000 });
  // While a token is cached, it maps to the same principal object. In that case not even a cache key has to be
  // computed.
  const atHand = new WeakMap<MemberPrincipal, Map<string, AtHand>>();

  return (principal, upstreamName, kinds, bound) => {
    if (principal.kind === 'anonymous' || kinds.length === 0) return ANONYMOUS_FIELDS;
    const now = options.clock();
    const kid = options.kid?.() ?? '';
    const own = atHand.get(principal)?.get(upstreamName) ?? take(principal, upstreamName, kinds);
    if (bound !== undefined) {
      const key = `${own.key} ${bound.method} ${bound.url}`;
      return keep(key, principal, upstreamName, kinds, { now, kid, bound }).fields;
    }
    if (own.kept === undefined || !isFresh(own.kept, now, kid))
      own.kept = keep(own.key, principal, upstreamName, kinds, { now, kid });
    return own.kept.fields;
  };

  function take(principal: MemberPrincipal, upstreamName: string, kinds: UpstreamConfig['identity']): AtHand {
    const own: AtHand = { key: cacheKey(principal, upstreamName, kinds), kept: undefined };
    atHand.set(principal, (atHand.get(principal) ?? new Map<string, AtHand>()).set(upstreamName, own));
    return own;
  }

  function keep(
    key: string,
    member: MemberPrincipal,
    upstreamName: string,
    kinds: UpstreamConfig['identity'],
    { now, kid, bound }: { readonly now: number; readonly kid: string; readonly bound?: BoundRequest },
  ): Kept {
    const known = kept.get(key);
    if (known !== undefined && isFresh(known, now, kid)) return known;
    const made = makeFields(member, upstreamName, kinds, now, bound);
    const keeping: Kept = { fields: made, until: now + REUSED, kid };
    kept.set(key, keeping);
    dropStale(now, kid);

    made.then(
      (fields) => {
        keeping.fields = fields;
      },
      // A failed signature is not cached. The callers receive the rejection itself.
      () => {
        keeping.until = 0;
        kept.delete(key);
      },
    );
    return keeping;
  }

  /**
   * Removes up to two expired entries for each new one, least recently used first, so that entries that are no longer
   * requested do not stay until the cache is full.
   */
  function dropStale(now: number, kid: string): void {
    const stale: string[] = [];
    for (const key of kept.rkeys()) {
      const one = kept.peek(key);
      if (stale.length === 2 || one === undefined || isFresh(one, now, kid)) break;
      stale.push(key);
    }
    for (const key of stale) kept.delete(key);
  }

  async function makeFields(
    member: MemberPrincipal,
    audience: string,
    kinds: UpstreamConfig['identity'],
    now: number,
    bound: BoundRequest | undefined,
  ) {
    assertId(member.sub, 'member');
    assertId(member.clientId, 'client');
    const fields = kinds.includes('headers') ? plainFields(member) : {};
    if (kinds.includes('assertion')) fields['X-Coursegate-Assertion'] = await assertion(member, audience, now, bound);
    return fields;
  }

  async function assertion(
    member: MemberPrincipal,
    audience: string,
    now: number,
    bound: BoundRequest | undefined,
  ): Promise<string> {
    const { kid, key } = await options.signingKey();
    const issued = Math.floor(now / 1000);
    return new SignJWT({
      ...Object.fromEntries(knownDetails(member.details).map(([{ claim }, value]) => [claim, value])),
      scope: formatScope(member.scope),
      client_id: member.clientId,
      grant_id: member.grantId,
      ...(bound === undefined ? {} : { htm: bound.method, htu: bound.url }),
    })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'JWT' })
      .setIssuer(options.issuer)
      .setAudience(audience)
      .setSubject(member.sub)
      .setIssuedAt(issued)
      .setExpirationTime(issued + LIFETIME)
      .sign(key);
  }
}

/** What a principal is known by at one upstream. */
interface AtHand {
  readonly key: string;
  /** Undefined until it is asked for. */
  kept: Kept | undefined;
}

interface Kept {
  /** A promise until they are signed. */
  fields: Fields | Promise<Fields>;
  /** Milliseconds since the epoch. */
  until: number;
  /** The id of the key that signed them. */
  readonly kid: string;
}

function isFresh(known: Kept, now: number, kid: string): boolean {
  return known.kid === kid && now < known.until && now >= known.until - REUSED;
}

function plainFields(member: MemberPrincipal): Record<string, string> {
  const details = knownDetails(member.details).map(([{ header }, value]) => [header, headerValue(value)]);
  return {
    'X-Member-Id': headerValue(member.sub),
    ...Object.fromEntries(details),
    'X-Member-Scope': formatScope(member.scope),
    'X-Client-Id': headerValue(member.clientId),
  };
}

/** Short, because it is looked up with each request. */
function cacheKey(
  { grantId, sub, clientId, details, scope }: MemberPrincipal,
  upstreamName: string,
  kinds: UpstreamConfig['identity'],
): string {
  const of = [grantId, formatScope(scope), upstreamName, kinds, sub, clientId, details];
  return hash('sha256', JSON.stringify(of), 'base64url');
}

function assertId(id: string, whose: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (id === '' || /[\x00-\x1F\x7F-\x9F]/.test(id) || !id.isWellFormed())
    throw new GatewayError('internal', {
      cause: new Error(`The ${whose} id ${JSON.stringify(id)} cannot be forwarded.`),
    });
}

/**
 * A text as a header value: visible ASCII is kept, everything else is percent-encoded UTF-8 (the value encoding of RFC
 * 8187 section 3.2.1 without its prefix). '%' itself and ',' are encoded too, so that percent-decoding returns exactly
 * the original text and no parser splits it as a list. 'Renée, A.' becomes `Ren%C3%A9e%2C A.`
 */
function headerValue(text: string): string {
  return text.toWellFormed().replace(/[^\x20-\x24\x26-\x2B\x2D-\x7E]+|^ +| +$/g, encodeURIComponent);
}
