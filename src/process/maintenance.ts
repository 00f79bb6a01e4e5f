import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { Usage } from '../authorization-server/connected-apps/usage.ts';
import type { Log } from '../operations/log.ts';
import type { Observer } from '../operations/observe/observer.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import type { TrafficMinutes } from '../operations/record/minutes.ts';
import type { Recorder } from '../operations/record/recorder.ts';
import type { Trail } from '../operations/record/trail.ts';
import type { UnusedTokens } from '../operations/unused-tokens.ts';
import type { Store } from '../storage/store.ts';
import { sweepAll } from '../storage/sweep.ts';

const SWEEP_EVERY = 60_000;
/** Milliseconds: the first sweep would delay the first requests. */
const FIRST_SWEEP = 1000;
/**
 * How soon a rotation by another replica is picked up, in milliseconds. A new key is published long before it signs.
 */
const KEYS_EVERY = 10_000;
/** Milliseconds: at most this much of the usage counts that members see is lost in a crash. */
const USE_EVERY = 15_000;
const UNUSED_EVERY = 30_000;
const TRAFFIC_EVERY = 30_000;
/** Milliseconds: how late a minute of traffic may be closed. Until one is over, a look at the clock is all that it does. */
const MINUTES_EVERY = 2000;

export interface MaintenanceOptions {
  readonly store: Store;
  /** The server of the current configuration. */
  readonly server: () => Pick<AuthorizationServer, 'refreshKeys'>;
  readonly usage: Pick<Usage, 'flush'>;
  readonly trail: Pick<Trail, 'flush'>;
  readonly recorder: Pick<Recorder, 'flush'>;
  readonly unused: Pick<UnusedTokens, 'judge'>;
  readonly traffic: Pick<TrafficMinutes, 'tick'>;
  /** Of the current configuration; undefined unless it is in observe mode. */
  readonly observer: () => Pick<Observer, 'judge'> | undefined;
  /** Whether the gate is shutting down; a sweep then ends early. */
  readonly draining: () => boolean;
  readonly log: Log;
}

/**
 * Starts the periodic tasks. Each runs on its own schedule and never overlaps with itself. Returns a function that
 * stops them.
 */
export function startMaintenance(options: MaintenanceOptions): () => void {
  const { store, server, usage, trail, recorder, unused, traffic, observer, draining, log } = options;
  const every = (milliseconds: number, work: () => Promise<unknown>, failed: string) => {
    const turn = oneAtATime(work, failed, log);
    return { turn, timer: setInterval(turn, milliseconds).unref() };
  };
  const sweep = every(SWEEP_EVERY, () => sweepAll(store, draining), 'the store could not be swept');
  // Also soon after the start: otherwise the store of a gate that is restarted more often than it sweeps would only grow.
  const first = setTimeout(sweep.turn, FIRST_SWEEP).unref();
  const chores = [
    sweep,
    every(KEYS_EVERY, () => server().refreshKeys(), 'the signing keys could not be renewed'),
    every(UNUSED_EVERY, () => unused.judge(), 'unused tokens could not be looked for'),
    every(TRAFFIC_EVERY, async () => observer()?.judge(log), 'the traffic could not be judged'),
    every(MINUTES_EVERY, () => traffic.tick(), 'the minutes of traffic could not be written'),
    every(USE_EVERY, () => usage.flush(), 'what apps used could not be written'),
    every(USE_EVERY, () => trail.flush(), 'audit lines for the console could not be written'),
    every(USE_EVERY, () => recorder.flush(), 'connection attempts could not be written'),
  ];
  return () => {
    clearTimeout(first);
    for (const { timer } of chores) clearInterval(timer);
  };
}
