import { LRUCache } from 'lru-cache';
import { MEMBER_ID } from '../../config/recheck.ts';
import type { TokenCredential } from '../../config/upstream-credential.ts';
import { GatewayError } from '../../errors.ts';
import { parseBoundedJson, RECORD_BOUNDS } from '../../http/bounded-json.ts';
import { at } from '../../http/json-pointer.ts';
import type { CallUpstream, UpstreamResponse } from '../request.ts';
import { type Attempt, type Credential, fieldValue, NOTHING } from './credential.ts';

export interface MemberTokensOptions {
  readonly config: TokenCredential;
  /** Who is asked for tokens. */
  readonly upstream: string;
  /** What `mint.key.secret` names. */
  readonly key: string | undefined;
  readonly call: CallUpstream;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Those that were made before. */
  readonly minted?: MintedTokens;
}

interface Minted {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Tokens by member, and those that are being made. */
interface MintedTokens {
  readonly kept: LRUCache<string, Minted>;
  readonly minting: Map<string, Promise<Minted>>;
}

const MOST_KEPT = 10_000;
/** Milliseconds before its end from which a token is not used any more: it must live until it arrives. */
const MARGIN = 5000;
/** What a field can hold. */
const TOKEN = /^[\x21-\x7E]{1,8192}$/;

/** None yet. */
export function mintedTokens(): MintedTokens {
  return { kept: new LRUCache({ max: MOST_KEPT }), minting: new Map() };
}

/**
 * A token of the backend's own for each member, made by a call to it and kept in memory until it runs out. Whoever asks
 * while one is being made waits for that. A token that is refused is made anew, once for a request.
 */
export function memberTokens(options: MemberTokensOptions): Credential {
  const { config, upstream, key, call, clock, minted = mintedTokens() } = options;
  const { mint, header, scheme } = config;
  const { kept, minting } = minted;
  const keyField =
    mint.key === undefined || key === undefined
      ? {}
      : { [mint.key.header]: fieldValue(mint.key.header, mint.key.scheme, key) };

  const ask = async (sub: string): Promise<Minted> => {
    const asked = clock();
    const body =
      mint.body === undefined
        ? {}
        : { body: JSON.stringify(Object.fromEntries(Object.entries(mint.body).map(([k, v]) => [k, filled(v, sub)]))) };
    const answer = await call({
      upstream,
      method: mint.method,
      path: mint.path.replaceAll(MEMBER_ID, () => inPath(sub)),
      headers: {
        accept: 'application/json',
        ...(mint.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...keyField,
      },
      ...body,
    });
    return { token: tokenIn(answer, config), until: asked + lifetimeIn(answer, config) * 1000 - MARGIN };
  };

  /** One call for all who wait for the same member's. */
  const mintFor = (sub: string): Promise<Minted> => {
    const under = minting.get(sub);
    if (under !== undefined) return under;
    const made = ask(sub)
      .then((minted) => {
        kept.set(sub, minted);
        return minted;
      })
      .finally(() => minting.delete(sub));
    minting.set(sub, made);
    return made;
  };

  const sentWith = (token: string, judged: boolean): Attempt => ({
    fields: { [header]: fieldValue(header, scheme, token) },
    ...(judged ? { judge: (status: number) => (status === 401 ? ('again' as const) : ('deliver' as const)) } : {}),
  });

  return {
    async attempt(principal, _method, before) {
      if (principal.kind !== 'member') return NOTHING;
      const { sub } = principal;
      const known = kept.get(sub);
      const refused = before !== undefined && known !== undefined && sentWith(known.token, false).fields[header];
      // What another request has made since is newer than what was refused.
      const usable = known !== undefined && known.until > clock() && refused !== before?.fields[header];
      if (usable && before === undefined) return sentWith(known.token, true);
      // One that was made for this request is as good as any: that it is refused is the upstream's answer.
      return sentWith((usable ? known : await mintFor(sub)).token, false);
    },
  };
}

function filled(value: string, sub: string): string {
  return value === MEMBER_ID ? sub : value;
}

/** An id as one segment of a path, or one value of a query. Throws when it would be another place than the member's. */
function inPath(sub: string): string {
  if (!sub.isWellFormed() || /^\.{0,2}$|[/\\]/.test(sub)) throw unusable('an id that no path can hold');
  return encodeURIComponent(sub).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function tokenIn({ status, body }: UpstreamResponse, config: TokenCredential): string {
  if (status === 429 || status >= 500) {
    throw new GatewayError('upstream_unavailable', { cause: new Error(`A token was answered with ${status}.`) });
  }
  const token = status >= 200 && status <= 299 ? at(parsed(body), config.token) : undefined;
  if (typeof token === 'string' && TOKEN.test(token)) return token;
  throw unusable(`${status} and no token`);
}

/** Out: seconds. */
function lifetimeIn({ body }: UpstreamResponse, { expiresIn, lifetime }: TokenCredential): number {
  if (expiresIn === undefined) return lifetime;
  const told = Number(at(parsed(body), expiresIn));
  if (!(told > 0)) throw unusable('no lifetime of a token');
  return Math.min(told, lifetime);
}

function parsed(body: string): unknown {
  try {
    return parseBoundedJson(body, RECORD_BOUNDS);
  } catch {
    return undefined;
  }
}

function unusable(what: string): GatewayError {
  return new GatewayError('upstream_invalid', { cause: new Error(`A token could not be made: ${what}.`) });
}
