import type { Foundation } from '../foundation/foundation.ts';
import type { Generation } from '../generation/generation.ts';
import type { Log } from '../operations/log.ts';
import { oneAtATime } from '../operations/one-at-a-time.ts';
import type { Store } from '../storage/store.ts';
import { sweepAll } from '../storage/sweep.ts';
import type { OpenGate } from './gate.ts';

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

interface Maintained {
  readonly store: Pick<Store, 'sweep' | 'compact'>;
  readonly log: Log;
  /** The gates of this process, as far as they are open. */
  readonly gates: () => Iterable<Pick<OpenGate, 'foundation' | 'generations'>>;
  /** Whether the process is shutting down; a sweep then ends early. */
  readonly draining: () => boolean;
}

/**
 * Starts the periodic tasks, for all gates together. Each runs on its own schedule and never overlaps with itself.
 * Returns a function that stops them.
 */
export function startMaintenance({ store, log, gates, draining }: Maintained): () => void {
  const every = (milliseconds: number, work: () => Promise<unknown>, failed: string) => {
    const turn = oneAtATime(work, failed, log);
    return { turn, timer: setInterval(turn, milliseconds).unref() };
  };
  /** What fails at one gate is not left out at the others. */
  const each = (
    milliseconds: number,
    work: (foundation: Foundation, current: Generation) => Promise<unknown>,
    failed: string,
  ) =>
    every(
      milliseconds,
      async () => {
        for (const { foundation, generations } of [...gates()])
          await work(foundation, generations.current()).catch((err: unknown) => foundation.log.error({ err }, failed));
      },
      failed,
    );
  const sweep = every(SWEEP_EVERY, () => sweepAll(store, draining), 'the store could not be swept');
  // Also soon after the start: otherwise the store of a gate that is restarted more often than it sweeps would only grow.
  const first = setTimeout(sweep.turn, FIRST_SWEEP).unref();
  const chores = [
    sweep,
    each(KEYS_EVERY, (_, { server }) => server.refreshKeys(), 'the signing keys could not be renewed'),
    each(UNUSED_EVERY, ({ unused }) => unused.evaluate(), 'unused tokens could not be looked for'),
    each(TRAFFIC_EVERY, async ({ log }, { observer }) => observer?.warnIfQuiet(log), 'the traffic could not be judged'),
    each(MINUTES_EVERY, ({ traffic }) => traffic.tick(), 'the minutes of traffic could not be written'),
    each(USE_EVERY, ({ usage }) => usage.flush(), 'what apps used could not be written'),
    each(USE_EVERY, ({ trail }) => trail.flush(), 'audit lines for the console could not be written'),
    each(USE_EVERY, ({ recorder }) => recorder.flush(), 'connection attempts could not be written'),
  ];
  return () => {
    clearTimeout(first);
    for (const { timer } of chores) clearInterval(timer);
  };
}
