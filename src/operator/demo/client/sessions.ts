import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Walk } from './walk.ts';

export const COOKIE = 'study_buddy';
/** Seconds without a request after which a session expires. */
export const IDLE = 2 * 3600;

/** The walks of up to 500 browsers, in memory; the least recently used one is dropped first. */
export function memorySessions(clock: () => number) {
  const walks = new LRUCache<string, Walk>({
    max: 500,
    ttl: IDLE * 1000,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now: clock },
  });
  const idOf = (cookie = '') => new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookie)?.[1] ?? '';
  return {
    /** The walk of a request's Cookie header; undefined when missing or expired. */
    find: (cookie: string | undefined) => walks.get(idOf(cookie)),
    /** Keeps a walk and returns the id of its session. */
    keep(walk: Walk): string {
      const id = randomBytes(32).toString('base64url');
      walks.set(id, walk);
      return id;
    },
    forget: (cookie: string | undefined) => void walks.delete(idOf(cookie)),
  };
}
