import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { Clock } from '../../storage/store.ts';
import { type OutboundFetch, unavailable } from '../outbound-fetch.ts';

/** Seconds after which keys are fetched again. A withdrawn key is no longer accepted after that. */
const FRESH = 600;
/** Seconds for which known keys are still used while their server is unavailable. */
const LASTING = 24 * 3600;
/** Minimum seconds between two fetches, so that invented key ids cannot cause more of them. */
const PAUSE = 30;

/**
 * The keys of the JSON Web Key Set (RFC 7517 section 5) at `url`, fetched when first needed and cached. An unknown key id causes another fetch, at most every 30
 * seconds. While the server is unavailable, known keys are used for up to a day. What a token says about its key (jku,
 * x5u, jwk, x5c) is ignored.
 *
 * @throws {GatewayError} `login_unavailable` when there are no keys
 */
export function remoteKeys(url: string, fetch: OutboundFetch, clock: Clock): JWTVerifyGetKey {
  let known: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly at: number } | undefined;
  let request: { readonly at: number; readonly answer: Promise<void> } | undefined;

  const now = () => clock() / 1000;

  const load = async (): Promise<void> => {
    const response = await fetch(url, { headers: { accept: 'application/jwk-set+json, application/json' } });
    if (response.status !== 200) throw unavailable(`${url} returned status ${response.status}`);
    try {
      known = { keys: createLocalJWKSet((await response.json()) as JSONWebKeySet), at: now() };
    } catch (thrown) {
      throw unavailable(`${url} is not a JSON Web Key Set`, thrown);
    }
  };

  /** Fetches the keys. Concurrent calls share one request. Rejects if it fails. */
  const ask = (): Promise<void> => {
    if (request === undefined || now() - request.at >= PAUSE) request = { at: now(), answer: load() };
    return request.answer;
  };

  return async (header, token) => {
    if (known === undefined || now() - known.at >= FRESH) {
      await ask().catch((thrown: unknown) => {
        if (known === undefined || now() - known.at >= LASTING) {
          // Without any key, do not wait for the pause: the next sign-in fetches again.
          request = undefined;
          throw thrown;
        }
      });
    }
    if (known === undefined) throw unavailable(`${url} could not be read`);
    try {
      return await known.keys(header, token);
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey)) throw thrown;
      await ask().catch(() => undefined);
      return known.keys(header, token);
    }
  };
}
