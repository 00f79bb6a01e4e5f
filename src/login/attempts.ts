import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { AT_PROVIDER, chargeTo } from '../storage/quota.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'SignInAttempt';

/** Seconds that a member has to sign in at the provider. */
const LIFETIME = 600;

/** A sign-in in progress: its provider, where to continue afterwards, and the data that the provider needs. */
interface Attempt {
  readonly provider: string;
  readonly returnTo: string;
  /** What the provider's `begin` returned to keep. */
  readonly kept: string;
}

/** Sign-ins in progress at a provider. Each can be finished once, in the browser that began it. */
export type Attempts = ReturnType<typeof signInAttempts>;

export function signInAttempts(store: Store, clock: Clock) {
  return {
    /** Creates a `state`. It is only stored by `keep`, after the provider's `begin`. */
    state: (): string => randomBytes(32).toString('base64url'),

    /** Stores an attempt for a state and the browser's secret. */
    async keep(state: string, browser: string, attempt: Attempt): Promise<void> {
      const payload = JSON.stringify({ ...attempt, browser: digest(browser).toString('base64url') });
      const expiresAt = unixSeconds(clock) + LIFETIME;
      const entry = { kind: KIND, id: state, payload, expiresAt, references: {}, charge: chargeTo(AT_PROVIDER) };
      await store.commit([{ op: 'create', entry }]);
    },

    /** Takes the attempt out; undefined if the state is unknown, expired, already used, or from another browser. */
    async take(state: string, browser: string | undefined): Promise<Attempt | undefined> {
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
