import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Counters } from '../../../src/storage/counters.ts';
import { sqlBus } from '../../../src/storage/sql/bus.ts';
import { sqlCounters } from '../../../src/storage/sql/counters.ts';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import { sql } from '../../../src/storage/sql/session.ts';
import { ready, SERVERS, type TestServer } from './servers.ts';

const RATE = { requests: 10, per: 60 };

describe.each(SERVERS)('gates that share $name', ({ start }) => {
  let server: TestServer;
  let url: string;
  beforeAll(async () => {
    server = await start();
    url = await server.database('gate');
    await ready(server, url);
  });
  afterAll(() => server.close());

  describe('hear of revocations', () => {
    const open = () => {
      const database = sqlDatabase(server.dialect, url, 2);
      const bus = sqlBus(database, url);
      const heard = vi.fn<() => void>();
      bus.subscribe(heard);
      return {
        ...{ bus, heard },
        async close() {
          await bus.close();
          database.close();
        },
      };
    };
    /** Waits until it listens, which it notifies once of, and resets the count. */
    const listening = async ({ heard }: ReturnType<typeof open>) => {
      await expect.poll(() => heard.mock.calls.length, { interval: 5 }).toBeGreaterThan(0);
      heard.mockClear();
    };
    const announced = (bus: ReturnType<typeof open>['bus']) =>
      bus.announce().then(
        () => true,
        () => false,
      );

    it('when one is announced', async () => {
      const [one, two] = [open(), open()];
      await listening(one);
      await listening(two);
      for (let times = 0; times < 3; times += 1) {
        two.heard.mockClear();
        await one.bus.announce();
        await expect.poll(() => two.heard.mock.calls.length, { interval: 5 }).toBeGreaterThan(0);
      }
      await one.close();
      await two.close();
    });

    it('after a restart of the server, because one may have been missed, and of those after it', async () => {
      const [one, two] = [open(), open()];
      await listening(one);
      await listening(two);
      await server.kill();
      await expect(one.bus.announce()).rejects.toMatchObject({ code: 'store_unavailable' });
      await server.start();
      await listening(two);
      await expect.poll(() => announced(one.bus)).toBe(true);
      await expect.poll(() => two.heard.mock.calls.length, { interval: 5 }).toBeGreaterThan(0);
      await one.close();
      await two.close();
    });
  });

  describe('count for rate limits', () => {
    const replica = (clock = Date.now) => sqlCounters(sqlDatabase(server.dialect, url, 1), 's'.repeat(32), clock);
    const add = (counters: Counters, key: string, times: number, rate = RATE) => {
      let count = 0;
      for (let at = 0; at < times; at += 1) count = counters.add(key, rate).count;
      return count;
    };

    it('together, to within a tenth', async () => {
      const [one, two] = [replica(), replica()];
      expect(add(one, 'm-1', 7)).toBe(7);
      // More than it has added itself: the other shares its first at once, and the rest with its next.
      let own = 0;
      await vi.waitFor(
        () => {
          own += 1;
          expect(add(two, 'm-1', 1) - own).toBeGreaterThanOrEqual(1);
        },
        { timeout: 30_000, interval: 200 },
      );
      let admitted = 0;
      await vi.waitFor(
        () => {
          if (add(one, 'm-1', 1) <= RATE.requests) admitted += 1;
          expect(one.peek('m-1', RATE).count).toBeGreaterThan(RATE.requests);
        },
        { timeout: 10_000, interval: 100 },
      );
      expect(admitted).toBeLessThanOrEqual(4);
      one.close();
      two.close();
    });

    it('with the server’s clock, by keyed hashes, and start again when a window has ended', async () => {
      const ahead = { now: Date.now() };
      const [one, two] = [replica(), replica(() => ahead.now)];
      const rate = { requests: 10, per: 20 };
      const rows = async () => {
        const session = await server.dialect.connect(url);
        const [found = []] = await session.run(sql('SELECT id, count, resets_at FROM coursegate_counter'));
        session.close();
        return found;
      };
      const before = (await rows()).length;
      add(one, 'student@example.com', 5, rate);
      await vi.waitFor(async () => expect(await rows()).toHaveLength(before + 1), { timeout: 10_000 });
      expect(JSON.stringify(await rows())).not.toContain('example.com');
      // More than it has added itself: the other shares its first at once, and the rest with its next.
      let own = 0;
      await vi.waitFor(
        () => {
          own += 1;
          expect(add(two, 'student@example.com', 1, rate) - own).toBeGreaterThanOrEqual(1);
        },
        { timeout: 30_000, interval: 200 },
      );
      ahead.now += 20_001;
      expect(two.peek('student@example.com', rate).count).toBe(0);
      await server.run(url, 'UPDATE coursegate_counter SET resets_at = 1');
      const three = replica();
      add(three, 'student@example.com', 1, rate);
      const counted = async () => (await rows()).map(({ count }) => Number(count));
      await vi.waitFor(async () => expect(await counted()).toContain(1), { timeout: 10_000 });
      for (const counters of [one, two, three]) counters.close();
    });

    it('separately while the server is down', async () => {
      const one = replica();
      await server.kill();
      expect(add(one, 'm-3', 25)).toBe(25);
      await server.start();
      one.close();
    });
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
