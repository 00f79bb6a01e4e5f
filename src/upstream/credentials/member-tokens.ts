import { LRUCache } from 'lru-cache';
import { MEMBER_ID } from '../../config/recheck.ts';
import { GatewayError } from '../../errors.ts';
import { boundedJson, RECORD_BOUNDS } from '../../http/bounded-json.ts';
import { at } from '../../http/json-pointer.ts';
import { encodedComponent } from '../../http/percent.ts';
import type { CallUpstream, UpstreamResponse } from '../request.ts';
import { type CallAttempt, type Credential, fieldValue, NOTHING } from './credential.ts';
import type { TokenCredential } from './settings.ts';

export interface MemberTokensOptions {
  readonly config: TokenCredential;
  /** The upstream that issues the tokens. */
  readonly upstream: string;
  /** The value of the secret that `mint.key.secret` refers to. */
  readonly key: string | undefined;
  readonly call: CallUpstream;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** A cache of existing tokens. */
  readonly minted: MintedTokens;
}

interface Minted {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Tokens by member id, and the requests for tokens that are in progress. */
interface MintedTokens {
  readonly kept: LRUCache<string, Minted>;
  readonly minting: Map<string, Promise<Minted>>;
}

const MOST_KEPT = 10_000;
/** Milliseconds before its expiry from which a token is no longer used: it must still be valid when it arrives. */
const MARGIN = 5000;
/** What a header field can contain. */
const TOKEN = /^[\x21-\x7E]{1,8192}$/;

/** Creates an empty cache. */
export function mintedTokens(): MintedTokens {
  return { kept: new LRUCache({ max: MOST_KEPT }), minting: new Map() };
}

/**
 * Requests a token of the backend's own for each member and keeps it in memory until it expires. Concurrent requests
 * for the same member share one call. A refused token is replaced once per request.
 */
export function memberTokens(options: MemberTokensOptions): Credential {
  const { config, upstream, key, call, clock, minted } = options;
  const { mint, header, scheme } = config;
  const { kept, minting } = minted;
  const keyField =
    mint.key === undefined || key === undefined
      ? {}
      : { [mint.key.header]: fieldValue(mint.key.header, mint.key.scheme, key) };

  const ask = async (sub: string): Promise<Minted> => {
    const requestedAt = clock();
    const members = mint.body && Object.entries(mint.body).map(([name, value]) => [name, filled(value, sub)]);
    const answer = await call({
      upstream,
      method: mint.method,
      path: mint.path.replaceAll(MEMBER_ID, () => inPath(sub)),
      headers: {
        accept: 'application/json',
        ...(members && { 'content-type': 'application/json' }),
        ...keyField,
      },
      ...(members && { body: JSON.stringify(Object.fromEntries(members)) }),
    });
    const { token, lifetime } = mintedIn(answer, config);
    return { token, until: requestedAt + lifetime * 1000 - MARGIN };
  };

  /** Concurrent requests for the same member share one call. */
  const mintFor = (sub: string): Promise<Minted> => {
    const running = minting.get(sub);
    if (running !== undefined) return running;
    const made = ask(sub)
      .then((minted) => {
        kept.set(sub, minted);
        return minted;
      })
      .finally(() => minting.delete(sub));
    minting.set(sub, made);
    return made;
  };

  const sentWith = (token: string, mayRetry: boolean): CallAttempt => ({
    fields: { [header]: fieldValue(header, scheme, token) },
    ...(mayRetry && { inspect: (status: number) => (status === 401 ? 'again' : 'deliver') }),
  });

  return {
    async attempt(principal, _method, before) {
      if (principal.kind !== 'member') return NOTHING;
      const { sub } = principal;
      const known = kept.get(sub);
      const refused = before !== undefined && known !== undefined && sentWith(known.token, false).fields[header];
      // A token that another request has obtained since is newer than the refused one.
      const usable = known !== undefined && known.until > clock() && refused !== before?.fields[header];
      if (usable && before === undefined) return sentWith(known.token, true);
      // The token was minted for this request: if it is refused too, that is the upstream's final answer.
      return sentWith((usable ? known : await mintFor(sub)).token, false);
    },
  };
}

function filled(value: string, sub: string): string {
  return value === MEMBER_ID ? sub : value;
}

/**
 * The member id as one path segment or one query value. Throws if it would lead to a different path (`..`, a slash).
 */
function inPath(sub: string): string {
  if (!sub.isWellFormed() || /^\.{0,2}$|[/\\]/.test(sub)) throw unusable('an id that no path can hold');
  return encodedComponent(sub);
}

/** The token, and its lifetime in seconds. */
function mintedIn({ status, body }: UpstreamResponse, config: TokenCredential) {
  if (status === 429 || status >= 500)
    throw new GatewayError('upstream_unavailable', { cause: new Error(`A token was answered with ${status}.`) });
  const document = status >= 200 && status <= 299 ? boundedJson(body, RECORD_BOUNDS) : undefined;
  const valueAt = (pointer: string): unknown =>
    at(document, pointer, (what) => {
      throw unusable(`${status} and no single token`, new Error(what));
    });
  const token = valueAt(config.token);
  if (typeof token !== 'string' || !TOKEN.test(token)) throw unusable(`${status} and no token`);
  const given = valueAt('/expires_in');
  const lifetime = given === undefined ? config.lifetime : Number(given);
  if (!(lifetime > 0)) throw unusable('no lifetime of a token');
  return { token, lifetime: Math.min(lifetime, config.lifetime) };
}

function unusable(what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_invalid', { cause: new Error(`A token could not be made: ${what}.`, { cause }) });
}
