import { type Clock, type Store, unixSeconds } from './store.ts';

/**
 * Milliseconds for which a probe's result is reused: every probe syncs a write to disk, and outsiders can trigger
 * probes.
 */
const EVERY = 1000;
/** Seconds for which the entry of the last probe is kept. */
const KEPT = 60;

/**
 * Checks whether the store accepts writes such as those of a sign-in, by writing an entry at most once a second. Throws
 * GatewayError `store_unavailable` if it does not.
 */
export function writingProbe(store: Store, clock: Clock, now = () => performance.now()): () => Promise<void> {
  let began = Number.NEGATIVE_INFINITY;
  let latest: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const expiresAt = unixSeconds(clock) + KEPT;
    const entry = { kind: 'Probe', id: 'ready', payload: '', expiresAt, references: {} };
    await store.commit([{ op: 'put', entry }]);
  };
  return () => {
    if (now() - began >= EVERY) {
      began = now();
      latest = write();
      // Callers see the failure. If there is no caller left, the rejection must not end the process.
      latest.catch(() => undefined);
    }
    return latest;
  };
}
