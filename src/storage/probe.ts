import { type Clock, type Store, unixSeconds } from './store.ts';

/** Milliseconds for which one probe answers for all that ask: a write is synced to disk, and probes come from outside. */
const EVERY = 1000;
/** Seconds for which the entry of the last probe is kept. */
const KEPT = 60;

/**
 * Whether the store takes what a sign-in writes: tried by writing an entry, at most once a second. Throws GatewayError
 * `store_unavailable` when it does not.
 */
export function writingProbe(store: Store, clock: Clock, now = () => performance.now()): () => Promise<void> {
  let began = Number.NEGATIVE_INFINITY;
  let latest: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const expiresAt = unixSeconds(clock) + KEPT;
    await store.commit([
      {
        op: 'put',
        entry: {
          kind: 'Probe',
          id: 'ready',
          payload: '',
          expiresAt,
          references: {},
        },
      },
    ]);
  };
  return () => {
    if (now() - began >= EVERY) {
      began = now();
      latest = write();
      // Whoever asks hears of a failure; where nobody does any more, it must not end the process.
      latest.catch(() => undefined);
    }
    return latest;
  };
}
