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
  /** How much is remembered, and how much at most. */
  readonly held: { readonly size: number; readonly max: number };
}

/**
 * Remembers positive answers only. An answer that was being fetched while something was revoked is used once and not
 * kept, since it may be from before. Tokens are not held: keys are their hashes. `checked` is told of each token: what it
 * is, and whether that was remembered.
 */
export function cachedIntrospect(
  ask: Introspect,
  clock: () => number,
  checked: (result: 'active' | 'inactive' | 'failed', remembered: boolean) => void = () => {},
): IntrospectionCache {
  const tokens = new LRUCache<string, ActiveToken>({
    max: CAPACITY,
    ttl: LIFETIME,
    ttlResolution: 0,
    perf: { now: clock },
  });
  let revocations = 0;

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
    introspect(token) {
      const key = hash('sha256', token, 'base64url');
      const known = tokens.get(key);
      if (known === undefined) return fetch(token, key);
      checked('active', true);
      return known;
    },
    held: tokens,
    clear() {
      revocations += 1;
      tokens.clear();
    },
  };
}
