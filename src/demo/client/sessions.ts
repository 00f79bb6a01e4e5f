import { randomBytes } from 'node:crypto';
import type { Walk } from './walk.ts';

/** What the app remembers of one browser. */
export interface Session {
  readonly id: string;
  walk: Walk | undefined;
}

export interface Sessions {
  /** The session of a request's Cookie header; undefined when there is none, or it is over. */
  find(cookie: string | undefined): Session | undefined;
  create(): Session;
  forget(session: Session): void;
  /** Runs `work` after all earlier work of this session: two clicks at once must not spend one refresh token twice. */
  inTurn<T>(session: Session, work: () => Promise<T>): Promise<T>;
}

export const COOKIE = 'study_buddy';
/** Seconds without a request after which a session is over. */
export const IDLE = 2 * 3600;
const MOST = 500;

/** Sessions in memory: at most 500, the least recently used goes first. In: the time in milliseconds. */
export function memorySessions(clock: () => number): Sessions {
  const kept = new Map<string, { session: Session; seen: number; tail: Promise<unknown> }>();
  return {
    find(cookie) {
      const id = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookie ?? '')?.[1] ?? '';
      const entry = kept.get(id);
      if (entry === undefined) return undefined;
      kept.delete(id);
      if (clock() - entry.seen > IDLE * 1000) return undefined;
      // Put back last: a Map keeps the order of insertion, so its first is the least recently used.
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
