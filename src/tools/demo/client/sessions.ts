import { randomBytes } from 'node:crypto';
import type { Walk } from './walk.ts';

/** The app's state for one browser. */
export interface Session {
  readonly id: string;
  walk: Walk | undefined;
}

export interface Sessions {
  /** The session of a request's Cookie header; undefined when missing or expired. */
  find(cookie: string | undefined): Session | undefined;
  create(): Session;
  forget(session: Session): void;
  /** Runs `work` after all earlier work of the session, so that a double click cannot use a refresh token twice. */
  inTurn<T>(session: Session, work: () => Promise<T>): Promise<T>;
}

export const COOKIE = 'study_buddy';
/** Seconds without a request after which a session expires. */
export const IDLE = 2 * 3600;
const MOST = 500;

/** Up to 500 sessions in memory; the least recently used one is dropped first. */
export function memorySessions(clock: () => number): Sessions {
  const kept = new Map<string, { session: Session; seen: number; tail: Promise<unknown> }>();
  return {
    find(cookie) {
      const id = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookie ?? '')?.[1] ?? '';
      const entry = kept.get(id);
      if (entry === undefined) return undefined;
      kept.delete(id);
      if (clock() - entry.seen > IDLE * 1000) return undefined;
      // Reinserted: a Map keeps insertion order, so its first entry is the least recently used.
      kept.set(id, { ...entry, seen: clock() });
      return entry.session;
    },
    create() {
      const session: Session = { id: randomBytes(32).toString('base64url'), walk: undefined };
      kept.set(session.id, { session, seen: clock(), tail: Promise.resolve() });
      const [oldest] = kept.keys();
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
      return session;
    },
    forget(session) {
      kept.delete(session.id);
    },
    inTurn(session, work) {
      const entry = kept.get(session.id);
      const done = (entry?.tail ?? Promise.resolve()).then(work);
      if (entry !== undefined) entry.tail = done.catch(() => undefined);
      return done;
    },
  };
}
