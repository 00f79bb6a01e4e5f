import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Walk } from './walk.ts';

/** The app's state for one browser. */
export interface Session {
  readonly id: string;
  walk: Walk | undefined;
  /** Ends with the newest work of this session. */
  tail: Promise<unknown>;
}

export type Sessions = ReturnType<typeof memorySessions>;

export const COOKIE = 'study_buddy';
/** Seconds without a request after which a session expires. */
export const IDLE = 2 * 3600;

/** Up to 500 sessions in memory; the least recently used one is dropped first. */
export function memorySessions(clock: () => number) {
  const sessions = new LRUCache<string, Session>({
    max: 500,
    ttl: IDLE * 1000,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now: clock },
  });
  return {
    /** The session of a request's Cookie header; undefined when missing or expired. */
    find: (cookie: string | undefined) =>
      sessions.get(new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookie ?? '')?.[1] ?? ''),
    create(): Session {
      const session = { id: randomBytes(32).toString('base64url'), walk: undefined, tail: Promise.resolve() };
      sessions.set(session.id, session);
      return session;
    },
    forget: ({ id }: Session) => void sessions.delete(id),
  };
}

/** Runs `work` after all earlier work of the session, so that a double click cannot use a refresh token twice. */
export function inTurn<T>(session: Session, work: () => Promise<T>): Promise<T> {
  const done = session.tail.then(work);
  session.tail = done.catch(() => undefined);
  return done;
}
