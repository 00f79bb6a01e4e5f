import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { Usage } from '../authorization-server/connected-apps/usage.ts';
import type { Log } from '../operations/log.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import type { UnusedTokens } from '../operations/unused-tokens.ts';
import type { Store } from '../storage/store.ts';
import { sweepAll } from '../storage/sweep.ts';

const SWEEP_EVERY = 60_000;
/** How soon a rotation done by another replica is taken over. The new key is published long before it signs. */
const KEYS_EVERY = 10_000;
/** What a crash can lose of the counts that members see of their apps. */
const USE_EVERY = 15_000;
const UNUSED_EVERY = 30_000;

export interface MaintenanceOptions {
  readonly store: Store;
  /** The present one. */
  readonly server: () => Pick<AuthorizationServer, 'refreshKeys'>;
  readonly usage: Pick<Usage, 'flush'>;
  readonly unused: Pick<UnusedTokens, 'judge'>;
  /** Whether the gate is on its way out: a sweep then ends early. */
  readonly draining: () => boolean;
  readonly log: Log;
}

/** Starts the periodic work, each kind on its own and never twice at the same time. Returns what stops it. */
export function startMaintenance({ store, server, usage, unused, draining, log }: MaintenanceOptions): () => void {
  const every = (milliseconds: number, work: () => Promise<unknown>, failed: string) => {
    const turn = oneAtATime(work, failed, log);
    return { turn, timer: setInterval(turn, milliseconds).unref() };
  };
  const sweep = every(SWEEP_EVERY, () => sweepAll(store, draining), 'the store could not be swept');
  // At the start too: a gate that is restarted more often than it sweeps would only ever grow.
  sweep.turn();
  const chores = [
    sweep,
    every(KEYS_EVERY, () => server().refreshKeys(), 'the signing keys could not be renewed'),
    every(UNUSED_EVERY, () => unused.judge(), 'unused tokens could not be looked for'),
    every(USE_EVERY, () => usage.flush(), 'what apps used could not be written'),
  ];
  return () => {
    for (const { timer } of chores) clearInterval(timer);
  };
}
