import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../storage/store.ts';
import { type OutboundFetch, unavailable } from '../outbound-fetch.ts';

/** Seconds after which keys are asked for again; who withdraws one is heard within them. */
const FRESH = 600;
/** Seconds for which the keys that are known go on being used while their server is away. */
const LASTING = 24 * 3600;
/** Seconds between two askings: whoever invents key ids makes us ask no more often. */
const PAUSE = 30;

export interface RemoteKeysOptions {
  /** Of a JSON Web Key Set (RFC 7517 §5). */
  readonly url: string;
  readonly fetch: OutboundFetch;
  readonly clock: Clock;
}

/**
 * The keys at a URL. They are fetched when first needed and kept; a key id that is not among them has them fetched anew,
 * but not more often than every half minute; while the server is away the known ones last for a day. What a token says
 * of where its key is (jku, x5u, jwk, x5c) is never looked at. Throws GatewayError `login_unavailable` when there are none.
 */
export function remoteKeys({ url, fetch, clock }: RemoteKeysOptions): JWTVerifyGetKey {
  let known: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  let asked: { readonly at: number; readonly answer: Promise<void> } | undefined;

  const now = () => clock() / 1000;

  const load = async (): Promise<void> => {
    const response = await fetch(url, { headers: { accept: 'application/jwk-set+json, application/json' } });
    if (response.status !== 200) throw unavailable(`${url} was answered with ${response.status}`);
    try {
      known = { keys: createLocalJWKSet(await response.json()), at: now() };
    } catch (thrown) {
      throw unavailable(`${url} has no JSON Web Key Set`, thrown);
    }
  };

  /** Out: once it is answered; of several at the same time one asks. Throws what kept it from being answered. */
  const ask = (): Promise<void> => {
    if (asked === undefined || now() - asked.at >= PAUSE) asked = { at: now(), answer: load() };
    return asked.answer;
  };

  return async (header, token) => {
    if (known === undefined || now() - known.at >= FRESH) {
      await ask().catch((thrown: unknown) => {
        if (known === undefined || now() - known.at >= LASTING) {
          // With no key at all there is nothing to spare: the next member asks anew.
          asked = undefined;
          throw thrown;
        }
      });
    }
    if (known === undefined) throw unavailable(`${url} was not read`);
    try {
      return await known.keys(header, token);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      await ask().catch(() => undefined);
      return known.keys(header, token);
    }
  };
}
