import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RequestRecord } from '../../../src/http/request-record.ts';
import { RequestsInFlight } from '../../../src/http/requests-in-flight.ts';
import { createMetrics, type MetricSources, type Metrics } from '../../../src/operations/metrics.ts';
import { createTrafficMinutes } from '../../../src/operations/record/minutes.ts';
import { quantile } from '../../../src/operator/console/traffic/quantile.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { redisStore } from '../../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';

const START = Date.UTC(2026, 10, 23, 11, 58);
const MINUTE = 60_000;
const DAY = 24 * 60;
const FIRST = START / MINUTE;

let now = START;
const clock = () => now;
const folder = mkdtempSync(join(tmpdir(), 'coursegate-traffic-'));
let redis: RedisServer | undefined;
let made = 0;
const present = redisPresent();
beforeAll(async () => {
  if (present) redis = await startRedis();
});
afterAll(async () => {
  await redis?.close();
  rmSync(folder, { recursive: true, force: true });
});

const STORES: [string, () => Store][] = [
  ['memory', () => memoryStore(clock)],
  ['sqlite', () => sqliteStore(join(folder, `${++made}`, 'coursegate.db'), clock)],
  ...(present
    ? [['redis', () => redisStore({ url: redis?.url ?? '', keyPrefix: `t${++made}` }, clock)] as [string, () => Store]]
    : []),
];

const newMetrics = (upstreams: MetricSources['upstreams'] = () => []): Metrics =>
  createMetrics({
    inFlight: new RequestsInFlight(),
    droppedLines: () => 0,
    upstreams,
    unused: () => ({ connections: 0, apps: 0 }),
    reloads: () => ({ successful: true, takenAt: 0, fingerprint: '' }),
    events: () => undefined,
    clock,
  });

const PROVENANCE = {
  clientAddress: '',
  hops: '',
  trusted: false,
  requestId: '',
  traceId: () => '',
  traceFields: () => [],
};

const newRecord = (outcome: RequestRecord['outcome'], reason = '') => {
  const record = new RequestRecord(PROVENANCE, 'GET', '/');
  record.outcome = outcome;
  record.reason = reason;
  return record;
};

const admit = (metrics: Metrics, times: number, milliseconds = 3) => {
  for (let at = 0; at < times; at += 1) metrics.ended(newRecord('admitted'), 200, milliseconds);
};

type Traffic = ReturnType<typeof createTrafficMinutes>;

/** The requests of each minute that was measured, by minutes since START. */
const admittedIn = async (traffic: Traffic) => {
  const { minutes } = await traffic.recent(0);
  return Object.fromEntries([...minutes].map(([at, { counts }]) => [at - FIRST, counts.get('requests admitted') ?? 0]));
};

const pass = (minutes: number) => {
  now += minutes * MINUTE;
};

describe.each(STORES)('the minutes of traffic in %s', (_name, make) => {
  let store: Store;
  beforeEach(() => {
    now = START;
    store = sealedStore(make(), 'x'.repeat(32));
    return () => store.close();
  });

  it('of all replicas are added up, across the hour', async () => {
    const metrics = [newMetrics(), newMetrics(), newMetrics()];
    const replicas = metrics.map((one) => createTrafficMinutes({ metrics: one, store, clock }));
    for (let minute = 0; minute < 4; minute += 1) {
      for (const [at, one] of metrics.entries()) admit(one, 10 ** at);
      pass(1);
      for (const replica of replicas) await replica.tick();
    }
    for (const replica of replicas) expect(await admittedIn(replica)).toEqual({ 0: 111, 1: 111, 2: 111, 3: 111 });
  });

  it('survive a restart, with the minute that had begun, and leave out the time between', async () => {
    const metrics = newMetrics();
    const before = createTrafficMinutes({ metrics, store, clock });
    admit(metrics, 2);
    pass(1);
    await before.tick();
    admit(metrics, 3);
    await before.end();
    pass(3);
    const again = newMetrics();
    const after = createTrafficMinutes({ metrics: again, store, clock });
    admit(again, 4);
    pass(1);
    expect(await admittedIn(after)).toEqual({ 0: 2, 1: 3, 4: 4 });
  });

  it('are kept for a day', async () => {
    const metrics = newMetrics();
    const traffic = createTrafficMinutes({ metrics, store, clock });
    for (let minute = 0; minute < 3; minute += 1) {
      admit(metrics, minute + 1);
      pass(1);
      await traffic.tick();
    }
    pass(DAY + 8);
    await traffic.tick();
    expect(Object.keys(await admittedIn(traffic))).not.toContain('0');
    expect(Object.keys(await admittedIn(traffic))).toContain('2');
    const other = createTrafficMinutes({ metrics: newMetrics(), store, clock });
    expect(await admittedIn(other)).toEqual(await admittedIn(traffic));
    pass(120);
    await traffic.tick();
    while ((await store.sweep(100)) > 0);
    expect(await store.findBy('TrafficHour', 'uid', `traffic ${Math.floor(FIRST / 60)}`)).toEqual([]);
  });
});

describe('traffic', () => {
  beforeEach(() => {
    now = START;
  });

  it('keeps what a failing store refused, and shows its own minutes meanwhile', async () => {
    const store = memoryStore(clock);
    let fails = true;
    const failing: Store = {
      ...store,
      findBy: (...given) => (fails ? Promise.reject(new Error('down')) : store.findBy(...given)),
      commit: (...given) => (fails ? Promise.reject(new Error('down')) : store.commit(...given)),
    };
    const metrics = newMetrics();
    const traffic = createTrafficMinutes({ metrics, store: failing, clock });
    admit(metrics, 5);
    pass(1);
    await expect(traffic.tick()).rejects.toThrow('down');
    const shown = await traffic.recent(0);
    expect(shown.complete).toBe(false);
    expect([...shown.minutes.values()][0]?.counts.get('requests admitted')).toBe(5);
    // Not tried again until the next minute is over.
    await traffic.tick();
    pass(1);
    await expect(traffic.tick()).rejects.toThrow('down');
    fails = false;
    // Of the next hour: what the last one had is written with it.
    pass(1);
    await traffic.tick();
    const other = createTrafficMinutes({ metrics: newMetrics(), store, clock });
    expect(await admittedIn(other)).toEqual({ 0: 5, 1: 0, 2: 0 });
    expect((await traffic.recent(0)).complete).toBe(true);
  });

  it('keeps nothing while nobody may look at it, and begins when somebody may', async () => {
    const store = memoryStore(clock);
    const metrics = newMetrics();
    let isKept = false;
    const traffic = createTrafficMinutes({ metrics, store, clock, isKept: () => isKept });
    admit(metrics, 5);
    pass(1);
    await traffic.tick();
    isKept = true;
    admit(metrics, 7);
    pass(1);
    await traffic.tick();
    expect(await admittedIn(traffic)).toEqual({ 1: 7 });
    expect(await admittedIn(createTrafficMinutes({ metrics: newMetrics(), store, clock }))).toEqual({ 1: 7 });
  });

  it('is what the metrics counted: outcomes, statuses, refusals, failures, tokens, sign-ins and consents', async () => {
    const metrics = newMetrics();
    const traffic = createTrafficMinutes({ metrics, store: memoryStore(clock), clock });
    metrics.watch({ login: () => 'session' });
    metrics.ended(newRecord('admitted'), 200, 1);
    metrics.ended(newRecord('refused', 'no_token'), 401, 1);
    metrics.ended(newRecord('failed', 'upstream_timeout'), 504, 1);
    metrics.ended(newRecord('public'), 0, 1);
    const wrong = newRecord('refused');
    wrong.refusedWith('invalid_grant');
    metrics.ended(wrong, 400, 1);
    const slow = newRecord('site');
    slow.asks('school');
    slow.answered(false);
    metrics.ended(slow, 500, 1);
    metrics.called('school', 200, 1);
    metrics.unanswered('school');
    metrics.storeFailed();
    metrics.audited({ action: 'token_refreshed' });
    metrics.audited({ action: 'signed_in' });
    metrics.audited({ action: 'consent_denied' });
    pass(1);
    const { minutes } = await traffic.recent(0);
    expect(Object.fromEntries(minutes.get(FIRST)?.counts ?? [])).toEqual({
      'requests admitted': 1,
      'requests public': 1,
      'requests site': 1,
      'requests refused': 2,
      'requests failed': 1,
      'statuses 2xx': 1,
      'statuses 4xx': 2,
      'statuses 5xx': 2,
      'statuses none': 1,
      'refusals no_token': 1,
      'refusals invalid_grant': 1,
      'failures upstream_timeout': 1,
      'tokens refresh_token': 1,
      'sign-ins success': 1,
      'consents denied': 1,
      'upstreams school': 2,
      'errors school': 1,
      'unanswered school': 1,
      'store failed': 1,
      'gate started': 1,
    });
  });

  it('says how upstreams were left alone at the end of a minute, and when a gate started and ended', async () => {
    let breaker: 'open' | 'half_open' | 'closed' = 'open';
    const metrics = newMetrics(() => [{ name: 'school', requests: 0, streams: 0, breaker }]);
    const traffic = createTrafficMinutes({ metrics, store: memoryStore(clock), clock });
    const stateAfter = async (state: typeof breaker) => {
      breaker = state;
      pass(1);
      await traffic.tick();
      return Object.fromEntries((await traffic.recent(now / MINUTE - 1)).minutes.get(now / MINUTE - 1)?.counts ?? []);
    };
    expect(await stateAfter('open')).toEqual({ 'breakers school': 1, 'gate started': 1 });
    expect(await stateAfter('half_open')).toEqual({ 'breakers school': 1 });
    expect(await stateAfter('closed')).toEqual({});
    await traffic.end();
    pass(1);
    expect((await traffic.recent(now / MINUTE - 1)).minutes.get(now / MINUTE - 1)?.counts).toEqual(
      new Map([['gate ended', 1]]),
    );
  });

  it('measures response times without streams, WebSockets and the site', async () => {
    const metrics = newMetrics();
    const traffic = createTrafficMinutes({ metrics, store: memoryStore(clock), clock });
    admit(metrics, 4, 3);
    const stream = newRecord('admitted');
    stream.streaming = true;
    metrics.ended(stream, 200, 3_600_000);
    metrics.ended(newRecord('admitted'), 101, 3_600_000);
    metrics.ended(newRecord('site'), 200, 9000);
    pass(1);
    const { minutes } = await traffic.recent(0);
    expect(minutes.get(FIRST)?.latencies.get('gate')).toEqual([0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(minutes.get(FIRST)?.counts.get('requests admitted')).toBe(6);
  });

  it('keeps a bounded number of names', async () => {
    const metrics = newMetrics();
    const traffic = createTrafficMinutes({ metrics, store: memoryStore(clock), clock });
    for (let at = 0; at < 500; at += 1) {
      metrics.ended(newRecord('refused', `r${at}`), 401, 1);
      const record = newRecord('admitted');
      record.asks(`upstream-${at}`);
      record.answered(false);
      metrics.ended(record, 200, 1);
    }
    pass(1);
    const { counts, latencies } = (await traffic.recent(0)).minutes.get(FIRST) ?? {
      counts: new Map(),
      latencies: new Map(),
    };
    const refusals = [...counts].filter(([key]) => key.startsWith('refusals '));
    expect(refusals.length).toBe(41);
    expect(refusals.reduce((sum, [, count]) => sum + count, 0)).toBe(500);
    expect(latencies.size).toBe(40);
  });
});

describe('a quantile', () => {
  // The buckets end at 1, 2.5, 5, 10, 25, 50, 100, 250 and 500 ms, 1, 2.5, 5 and 10 s.
  const counts = (...given: readonly number[]) => [...given, ...Array(14 - given.length).fill(0)];
  const rounded = (value: number | undefined) => value && Number(value.toPrecision(3));
  it.each([
    [counts(), 0.5, undefined],
    [counts(10), 0.5, 0.0005],
    [counts(0, 0, 0, 100), 0.5, 0.0075],
    [counts(50, 0, 50), 0.99, 0.00495],
    [counts(98, 0, 0, 2), 0.99, 0.0075],
    [[...Array(13).fill(0), 1], 0.5, Number.POSITIVE_INFINITY],
  ])('of %j at %d is %d', (buckets, part, expected) => {
    expect(rounded(quantile(buckets, part))).toBe(expected);
  });
});
