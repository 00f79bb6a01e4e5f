import type { Foundation } from '../foundation/foundation.ts';
import type { Generation } from '../generation/generation.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
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

type Maintained = Pick<Foundation, 'store' | 'usage' | 'trail' | 'recorder' | 'unused' | 'traffic' | 'log'>;

/**
 * Starts the periodic tasks. Each runs on its own schedule and never overlaps with itself. `draining` tells whether the
 * gate is shutting down; a sweep then ends early. Returns a function that stops them.
 */
export function startMaintenance(
  { store, usage, trail, recorder, unused, traffic, log }: Maintained,
  current: () => Pick<Generation, 'server' | 'observer'>,
  draining: () => boolean,
): () => void {
  const every = (milliseconds: number, work: () => Promise<unknown>, failed: string) => {
    const turn = oneAtATime(work, failed, log);
    return { turn, timer: setInterval(turn, milliseconds).unref() };
  };
  const sweep = every(SWEEP_EVERY, () => sweepAll(store, draining), 'the store could not be swept');
  // Also soon after the start: otherwise the store of a gate that is restarted more often than it sweeps would only grow.
  const first = setTimeout(sweep.turn, FIRST_SWEEP).unref();
  const chores = [
    sweep,
    every(KEYS_EVERY, () => current().server.refreshKeys(), 'the signing keys could not be renewed'),
    every(UNUSED_EVERY, () => unused.evaluate(), 'unused tokens could not be looked for'),
    every(TRAFFIC_EVERY, async () => current().observer?.warnIfQuiet(log), 'the traffic could not be judged'),
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
