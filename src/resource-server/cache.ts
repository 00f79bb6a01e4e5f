import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ActiveToken, Introspect, Introspection } from '../oauth/introspection.ts';

const CAPACITY = 10_000;
/** Milliseconds for which a positive answer is cached: the longest that a revocation on another replica can take. */
const LIFETIME = 5000;

/**
 * Caches positive answers only, under the hash of the token. An answer that was being fetched during a revocation is
 * used once but not cached, since it may be outdated. `checked` is called for each token with the result and whether it
 * came from the cache.
 */
export function cachedIntrospect(
  ask: Introspect,
  clock: () => number,
  checked: (result: 'active' | 'inactive' | 'failed', remembered: boolean) => void = () => {},
) {
  const tokens = new LRUCache<string, ActiveToken>({
    max: CAPACITY,
    ttl: LIFETIME,
    ttlResolution: 0,
    perf: { now: clock },
  });
  let revocations = 0;
  let latest = clock();

  async function fetch(token: string, key: string): Promise<Introspection> {
    const before = revocations;
    const answer = await asked(token);
    checked(answer.active ? 'active' : 'inactive', false);
    if (answer.active && before === revocations) tokens.set(key, answer);
    return answer;
  }

  async function asked(token: string): Promise<Introspection> {
    try {
      return await ask(token);
    } catch (thrown) {
      checked('failed', false);
      throw thrown;
    }
  }

  return {
    introspect(token: string) {
      const now = clock();
      // After a clock was set back, answers would be kept for longer.
      if (now < latest) tokens.clear();
      latest = now;
      const key = hash('sha256', token, 'base64url');
      const known = tokens.get(key);
      if (known === undefined) return fetch(token, key);
      checked('active', true);
      return known;
    },
    /** The number of cached answers, and the capacity. */
    held: tokens,
    /** Empties the cache, after a revocation. */
    clear(): void {
      revocations += 1;
      tokens.clear();
    },
  };
}
