import type { Health } from '../operations/health.ts';
import { type CollectedMetrics, expositionOf, lasting, type MetricValues, sumOf } from '../operations/metrics-sum.ts';
import { addUpCounted, type Counted } from '../operations/observe/observations.ts';
import type { Hand } from './crew.ts';

export interface BoardOptions {
  readonly workers: number;
  /** Those that take requests, by number. */
  readonly standing: () => ReadonlyMap<number, Hand>;
  /** All that run and have something to say. */
  readonly present: () => Iterable<Hand>;
  readonly draining: () => boolean;
  /** What the primary counts. */
  readonly own: () => Promise<CollectedMetrics>;
}

/** What the admin listener says of all workers together. */
export interface Board {
  ready(): Promise<Health>;
  metrics(): Promise<{ contentType: string; text: string }>;
  observed(): Promise<Counted | undefined>;
  /** A worker has told its last counts. */
  left(hand: Hand, last: { readonly metrics: CollectedMetrics; readonly observed: Counted | undefined }): void;
  /** A worker is gone, whether or not it has told them. */
  gone(hand: Hand): void;
}

/** The name of the primary among those that say something of themselves. */
const PRIMARY = 'primary';

/**
 * Sums never go back when a worker ends, or every rate made of them would show a leap that never was: what it told last is
 * kept. Of one that was killed that is what it said when it was asked last.
 */
export function createBoard({ workers, standing, present, draining, own }: BoardOptions): Board {
  const last = new Map<Hand, CollectedMetrics>();
  /** Whose counts are among those that are kept. */
  const departed = new WeakSet<Hand>();
  let kept: Promise<MetricValues> = Promise.resolve([]);
  let keptObserved: Counted | undefined;

  const keep = (hand: Hand, { gate }: CollectedMetrics): void => {
    if (departed.has(hand)) return;
    departed.add(hand);
    last.delete(hand);
    kept = kept.then((before) => sumOf([before, lasting(gate)]));
  };

  return {
    async ready() {
      const numbers = Array.from({ length: workers }, (_, at) => at + 1);
      const all = await Promise.all(
        numbers.map(async (number): Promise<Health> => {
          const hand = standing().get(number);
          if (hand === undefined) return unwell(number, 'is being replaced');
          return hand.link.ask('ready', null).catch(() => unwell(number, 'does not answer'));
        }),
      );
      const checks = all.flatMap((health, at) =>
        health.checks.map((check) => ({ ...check, name: `worker ${at + 1} ${check.name}` })),
      );
      if (draining()) return { ok: false, text: 'draining', checks };
      const { ok, text } = all.find((health) => !health.ok) ?? (all[0] as Health);
      return { ok, text, checks };
    },

    async metrics() {
      await Promise.all(
        [...present()].map(async (hand) => {
          const collected = await hand.link.ask('metrics', null).catch(() => undefined);
          if (collected !== undefined && !departed.has(hand)) last.set(hand, collected);
        }),
      );
      const { gate, process } = await own();
      const processes = new Map<string, MetricValues>([[PRIMARY, process]]);
      for (const [number, hand] of standing()) processes.set(String(number), last.get(hand)?.process ?? []);
      const gates = [...last.values()].map((collected) => collected.gate);
      return expositionOf(await sumOf([await kept, gate, ...gates]), processes);
    },

    async observed() {
      const counted = await Promise.all([...present()].map((hand) => hand.link.ask('observed', null)));
      return addUpCounted([keptObserved, ...counted].filter((one) => one !== undefined));
    },

    left(hand, { metrics, observed }) {
      keep(hand, metrics);
      keptObserved = addUpCounted([keptObserved, observed].filter((one) => one !== undefined));
    },

    gone(hand) {
      const collected = last.get(hand);
      if (collected !== undefined) keep(hand, collected);
    },
  };
}

function unwell(number: number, how: string): Health {
  return { ok: false, text: `worker ${number} ${how}`, checks: [{ name: 'process', ok: false, detail: how }] };
}
