import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { chargeTo, PENDING } from '../storage/quota.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'SignInAttempt';

/** Seconds a member has for the sign-in page of somebody else. */
const LIFETIME = 600;

/** A sign-in that was begun: in which browser, by whom it is to be finished, and where it goes on. */
interface Attempt {
  readonly provider: string;
  readonly returnTo: string;
  /** What the provider wants back at the end. */
  readonly kept: string;
}

/** What stands between a sign-in's begin and its end, elsewhere. Each is finished once, in the browser that began it. */
export interface Attempts {
  /** Out: a fresh `state`. It is remembered by `keep`, once the provider has said what it wants kept. */
  state(): string;
  /** In: the state, and the browser's own secret. */
  keep(state: string, browser: string, attempt: Attempt): Promise<void>;
  /** Out: the attempt, used up; undefined when there is none: never begun, over, finished already, or of another browser. */
  take(state: string, browser: string | undefined): Promise<Attempt | undefined>;
}

export function signInAttempts(store: Store, clock: Clock): Attempts {
  return {
    state: () => randomBytes(32).toString('base64url'),

    async keep(state, browser, attempt) {
      const payload = JSON.stringify({ ...attempt, browser: digest(browser).toString('base64url') });
      const expiresAt = unixSeconds(clock) + LIFETIME;
      const entry = { kind: KIND, id: state, payload, expiresAt, references: {}, charge: chargeTo(PENDING) };
      await store.commit([{ op: 'create', entry }]);
    },

    async take(state, browser) {
      const entry = await store.get(KIND, state);
      if (entry === undefined || entry.consumedAt !== undefined || browser === undefined) return undefined;
      const { browser: expected, ...attempt } = JSON.parse(entry.payload) as Attempt & { browser: string };
      if (!timingSafeEqual(digest(browser), Buffer.from(expected, 'base64url'))) return undefined;
      return (await store.commit([{ op: 'consume', kind: KIND, id: state }])) ? attempt : undefined;
    },
  };
}

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
