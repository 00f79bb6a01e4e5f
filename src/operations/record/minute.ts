/** What happened in one minute, or in several taken together. */
export interface Minute {
  /** By `GROUP NAME`, such as `requests admitted`; nothing is kept for 0. */
  readonly counts: Map<string, number>;
  /** Requests by duration, a count for each bucket of the histogram: by `gate` or `upstream NAME`. */
  readonly latencies: Map<string, number[]>;
}

/**
 * What is counted. `open` (requests in progress, open streams) and `breakers` (processes that leave an upstream alone) are
 * as they are at the end of the minute; the others are events in it. Of upstreams: `upstreams` are responses, `errors`
 * those with a status of 500 or more, and `unanswered` requests without a response. `gate`: processes that `started` and
 * `ended`.
 */
export type Group =
  | 'requests'
  | 'statuses'
  | 'refusals'
  | 'failures'
  | 'tokens'
  | 'sign-ins'
  | 'consents'
  | 'upstreams'
  | 'errors'
  | 'unanswered'
  | 'breakers'
  | 'store'
  | 'gate'
  | 'open';

/** More names than this in one group share `other`. They come from our own code and the configuration. */
const MOST_NAMES = 40;

/** What is no event of the minute, but how it was at its end. */
export const isState = (key: string): boolean => key.startsWith('open ') || key.startsWith('breakers ');

export const MINUTE = 60_000;
/** How long minutes are kept, in minutes: a day, and the ten minutes in which it may have begun. */
export const KEPT = 24 * 60 + 10;

export const minuteOf = (milliseconds: number): number => Math.floor(milliseconds / MINUTE);

export function emptyMinute(): Minute {
  return { counts: new Map(), latencies: new Map() };
}

/** The counts of one group, by name. */
export function namesIn({ counts }: Minute, group: Group): ReadonlyMap<string, number> {
  const prefix = `${group} `;
  return new Map(
    [...counts].flatMap(([key, count]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), count] as const] : [])),
  );
}

/** All requests. */
export function requestsIn(minute: Minute): number {
  return [...namesIn(minute, 'requests').values()].reduce((sum, count) => sum + count, 0);
}

export function countOf({ counts }: Minute, group: Group, name: string): number {
  return counts.get(`${group} ${name}`) ?? 0;
}

/** Adds `from` to `sum`. */
export function addMinute(sum: Minute, from: Minute): void {
  for (const [key, count] of from.counts) sum.counts.set(key, (sum.counts.get(key) ?? 0) + count);
  for (const [key, buckets] of from.latencies) addBuckets(sum.latencies, key, buckets);
}

export function addBuckets(sum: Minute['latencies'], key: string, buckets: ArrayLike<number>, sign = 1): void {
  let into = sum.get(key);
  if (into === undefined) {
    into = new Array<number>(buckets.length).fill(0);
    sum.set(key, into);
  }
  for (let at = 0; at < buckets.length; at += 1) into[at] = (into[at] ?? 0) + sign * (buckets[at] ?? 0);
}

/** What happened between two totals of a process. What is open now is no difference. */
export function difference(before: Minute, now: Minute): Minute {
  const counts = new Map<string, number>();
  const names = new Map<string, number>();
  for (const [key, count] of now.counts) {
    const group = key.slice(0, key.indexOf(' '));
    const grown = isState(key) ? count : count - (before.counts.get(key) ?? 0);
    if (grown <= 0) continue;
    const known = (names.get(group) ?? 0) + 1;
    names.set(group, known);
    const name = known > MOST_NAMES ? `${group} other` : key;
    counts.set(name, (counts.get(name) ?? 0) + grown);
  }
  const latencies = new Map<string, number[]>();
  for (const [key, buckets] of now.latencies) {
    const was = before.latencies.get(key) ?? [];
    const grown = buckets.map((count, at) => Math.max(0, count - (was[at] ?? 0)));
    if (latencies.size < MOST_NAMES && grown.some((count) => count > 0)) latencies.set(key, grown);
  }
  return { counts, latencies };
}

/** The minutes of one hour of one process as JSON. */
export function writeMinutes(process: string, minutes: ReadonlyMap<number, Minute>): object {
  return {
    process,
    minutes: [...minutes].map(([at, { counts, latencies }]) => [at, [...counts], [...latencies]]),
  };
}

interface Written {
  readonly process: string;
  readonly minutes: readonly [number, readonly [string, number][], readonly [string, number[]][]][];
}

/** The inverse of `writeMinutes`. */
export function readMinutes(payload: string): { process: string; minutes: readonly (readonly [number, Minute])[] } {
  const { process, minutes } = JSON.parse(payload) as Written;
  return {
    process,
    minutes: minutes.map(([at, counts, latencies]) => [at, { counts: new Map(counts), latencies: new Map(latencies) }]),
  };
}
