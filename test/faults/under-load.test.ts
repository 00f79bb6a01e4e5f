import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SERVERS } from '../storage/sql/servers.ts';
import { redisPresent } from '../support/redis.ts';
import { acknowledgedDuring } from './acknowledged.ts';
import { clusterStore, databaseStore, type SharedStore } from './shared-stores.ts';
import { threeGates } from './three-gates.ts';

/** How long the load takes. By default as long as a few faults. */
const SECONDS = Number(process.env.COURSEGATE_LOAD_SECONDS ?? 0);
const EVERY = SECONDS === 0 ? 500 : 20_000;

/** How many faults there are at least. */
const SHORTEST = 2;

/** The start, the slowest faults, and using every token at every gate, on a busy machine. */
const timeout = 180_000 + 3 * SECONDS * 1000;

/** Kills one gate after the other, and does something to the store in between. Returns what was lost. */
async function lossesOf(name: string, store: SharedStore) {
  onTestFinished(() => store.close(), 60_000);
  const gates = await threeGates(store.settings, store.environment);
  onTestFinished(() => gates.close(), 60_000);
  const faults = Object.entries(store.faults);
  /** The longest time without a token response, in milliseconds, by what happened. */
  const outages: Record<string, number> = {};
  let storeFaults = 0;
  const { counts, lost } = await acknowledgedDuring(gates, async () => {
    const began = performance.now();
    while (storeFaults < SHORTEST || performance.now() - began < SECONDS * 1000) {
      const next = sleep(EVERY);
      const restarted = gates.restart(storeFaults % gates.numbers.length);
      await sleep(EVERY / 2);
      const [title = '', fault] = faults[storeFaults % faults.length] ?? [];
      gates.trouble.outage = 0;
      await fault?.();
      storeFaults += 1;
      await Promise.all([restarted, next]);
      outages[title] = Math.max(outages[title] ?? 0, gates.trouble.outage);
    }
    await sleep(EVERY);
  });
  const losses = [...lost.values()].map((one) => {
    const during = store.exposed.find(({ to }) => to >= one.acknowledgedAt);
    return { ...one, before: during && Math.round(during.to - one.acknowledgedAt), during };
  });
  const figures = {
    ...counts,
    ...gates.trouble,
    ...{ storeFaults, outages, outage: Math.max(...Object.values(outages)) },
    lost: Object.fromEntries(
      Object.entries(Object.groupBy(losses, ({ what }) => what)).map(([what, all]) => [what, all.length]),
    ),
    longestBefore: Math.max(0, ...losses.map(({ before }) => before ?? Number.NaN)),
  };
  process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  return losses;
}

describe.skipIf(!redisPresent())('three gates that are killed in turn, on a Redis Cluster under load', () => {
  it('lose nothing acknowledged with minReplicas, whatever happens to the primary', { timeout }, async () => {
    expect(await lossesOf('Redis Cluster, minReplicas 1', await clusterStore(1, 'always'))).toEqual([]);
  });

  it.skipIf(SECONDS === 0)(
    'lose nothing without minReplicas but what a primary had alone when it died',
    { timeout },
    async () => {
      const losses = await lossesOf('Redis Cluster, minReplicas 0', await clusterStore(0, 'everysec'));
      const others = losses.filter(({ acknowledgedAt, during }) => !(during && acknowledgedAt >= during.from));
      expect(others).toEqual([]);
    },
  );
});

describe.each(SECONDS === 0 ? SERVERS.slice(0, 1) : SERVERS)(
  'three gates that are killed in turn, on $name under load',
  ({ name, start }) => {
    it('lose nothing acknowledged when its server is killed', { timeout }, async () => {
      expect(await lossesOf(name, await databaseStore(start))).toEqual([]);
    });
  },
);
