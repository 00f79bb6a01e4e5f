import { randomBytes } from 'node:crypto';
import { jsonEntry } from '../../storage/store.ts';
import {
  addMinute,
  difference,
  emptyMinute,
  KEPT,
  type Minute,
  minuteOf,
  readMinutes,
  writeMinutes,
} from './minute.ts';
import type { Recording } from './recording.ts';
import { type Readings, readTotals } from './totals.ts';

export type TrafficMinutes = ReturnType<typeof createTrafficMinutes>;

const KIND = 'TrafficHour';
const HOUR = 60;
/** Entries read for one hour: as many as there were processes in it. */
const MOST_PROCESSES = 200;
/** Minutes after which no replica writes to an hour any more, unless its store has failed that long. */
const SETTLED = 10;
/** Minutes without a reader after which the hours read from the store are released. */
const UNREAD = 30;

/**
 * Keeps the traffic of the last 24 hours, minute by minute. Each process writes one entry for each hour and replaces it
 * as a whole; readers add the entries up. So no write needs a read first, and replicas cannot overwrite each other.
 */
export function createTrafficMinutes({
  metrics,
  store,
  clock,
  isKept = () => true,
}: Recording & { readonly metrics: Readings }) {
  const id = randomBytes(12).toString('base64url');
  /** Those of this process. */
  const own = new Map<number, Minute>();
  /** Hours with minutes that are not stored yet. */
  const unwritten = new Set<number>();
  /** Those of other processes, of hours that have settled. */
  const others = new Map<number, ReadonlyMap<number, Minute>>();
  let totals = emptyMinute();
  const first = minuteOf(clock());
  let current = first;
  let lastRead = current;
  let lastWritten = current;
  let sampling: Promise<void> = Promise.resolve();

  /** Closes the current minute, or at the end of the process the part of it that has passed. */
  const close = async (isLast: boolean): Promise<void> => {
    const now = await readTotals(metrics);
    const grown = difference(totals, now);
    totals = now;
    // A process that ends with nothing to tell may never have started to serve.
    const isNothing = isLast && own.size === 0 && grown.counts.size === 0;
    if (!isNothing && isKept()) {
      const minute = own.get(current) ?? emptyMinute();
      addMinute(minute, grown);
      if (current === first) minute.counts.set('gate started', 1);
      if (isLast) minute.counts.set('gate ended', 1);
      own.set(current, minute);
      unwritten.add(hourOf(current));
    }
    current = minuteOf(clock());
    for (const at of own.keys()) if (at < current - KEPT) own.delete(at);
    for (const hour of unwritten) if (hour < hourOf(current - KEPT)) unwritten.delete(hour);
    for (const hour of others.keys())
      if (hour < hourOf(current - KEPT) || current - lastRead > UNREAD) others.delete(hour);
  };
  const sample = (isLast = false): Promise<void> => {
    sampling = sampling.catch(() => {}).then(() => (isLast || minuteOf(clock()) > current ? close(isLast) : undefined));
    return sampling;
  };

  const ofHour = (hour: number) => new Map([...own].filter(([at]) => hourOf(at) === hour));

  const flush = async (): Promise<void> => {
    for (const hour of unwritten) {
      const expires = (hour + 1) * HOUR * 60 + KEPT * 60;
      const entry = jsonEntry(KIND, `${id} ${hour}`, writeMinutes(id, ofHour(hour)), expires, { uid: placeOf(hour) });
      unwritten.delete(hour);
      try {
        await store.commit([{ op: 'put', entry }]);
      } catch (thrown) {
        unwritten.add(hour);
        throw thrown;
      }
    }
  };

  /** Throws GatewayError `store_unavailable`. */
  const readOthers = async (hour: number): Promise<ReadonlyMap<number, Minute>> => {
    const known = others.get(hour);
    if (known !== undefined) return known;
    const entries = await store.findBy(KIND, 'uid', placeOf(hour), MOST_PROCESSES);
    const sum = new Map<number, Minute>();
    for (const { process, minutes } of entries.map(({ payload }) => readMinutes(payload))) {
      if (process !== id) for (const [at, minute] of minutes) addAt(sum, at, minute);
    }
    if (current >= (hour + 1) * HOUR + SETTLED) others.set(hour, sum);
    return sum;
  };

  return {
    /** Closes the minute if it is over, and stores what is new. Call it often. Throws GatewayError `store_unavailable`. */
    async tick(): Promise<void> {
      await sample();
      if (current === lastWritten) return;
      lastWritten = current;
      await flush();
    },

    /** Stores everything, the minute that has begun included. Call it at the end of the process. */
    async end(): Promise<void> {
      await sample(true);
      await flush();
    },

    /**
     * The minutes from `since` (minutes since the epoch) to the last one that is over, of all replicas together. A minute
     * that no process measured is absent. If the store fails, only those of this process are there, which are not complete.
     */
    async recent(since: number) {
      await sample();
      lastRead = current;
      const first = Math.max(since, current - KEPT);
      const hours = range(hourOf(first), hourOf(current - 1));
      const read = await Promise.all(hours.map(readOthers)).catch(() => undefined);
      const minutes = new Map<number, Minute>();
      for (const source of [own, ...(read ?? [])]) {
        for (const [at, minute] of source) if (at >= first && at < current) addAt(minutes, at, minute);
      }
      return { minutes, complete: read !== undefined };
    },
  };
}

function addAt(sum: Map<number, Minute>, at: number, minute: Minute): void {
  const before = sum.get(at) ?? emptyMinute();
  addMinute(before, minute);
  sum.set(at, before);
}

const hourOf = (minute: number): number => Math.floor(minute / HOUR);
const placeOf = (hour: number): string => `traffic ${hour}`;

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
}
