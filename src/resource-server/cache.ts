import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { ActiveToken, Introspect, Introspection } from '../oauth/introspection.ts';

const CAPACITY = 10_000;
/** Milliseconds a positive answer is believed without asking again: what a revocation elsewhere may take at most. */
const LIFETIME = 5000;

export interface IntrospectionCache {
  readonly introspect: Introspect;
  /** Forgets everything: something was revoked. */
  readonly clear: () => void;
}

/**
 * Remembers positive answers only. An answer that was being fetched while something was revoked is used once and not
 * kept, since it may be from before. Tokens are not held: keys are their hashes.
 */
export function cachedIntrospect(ask: Introspect, clock: () => number): IntrospectionCache {
  const tokens = new LRUCache<string, ActiveToken>({
    max: CAPACITY,
    ttl: LIFETIME,
    ttlResolution: 0,
    perf: { now: clock },
  });
  let revocations = 0;

  async function fetch(token: string, key: string): Promise<Introspection> {
    const before = revocations;
    const answer = await ask(token);
    if (answer.active && before === revocations) tokens.set(key, answer);
    return answer;
  }

  return {
    introspect(token) {
      const key = hash('sha256', token, 'base64url');
      return tokens.get(key) ?? fetch(token, key);
    },
    clear() {
      revocations += 1;
      tokens.clear();
    },
  };
}
