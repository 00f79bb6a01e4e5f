import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SqlSession } from '../../../src/storage/sql/session.ts';
import { sessionPool } from '../../../src/storage/sql/session-pool.ts';
import { insistently, patiently } from '../../faults/patiently.ts';
import { type App, registerApp } from '../../support/app.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../../support/connection.ts';
import { timeOf } from '../../support/pace.ts';
import { startWorld, type World } from '../../support/world.ts';
import { IN_TIME } from '../failing-store.ts';
import { ready, SERVERS, type TestServer } from './servers.ts';

describe('the pool of connections', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A server that takes `room` connections. The fault of the next that is opened is thrown. */
  function poolOn({ room = 100, most = 3 }) {
    const opened: { open: boolean; closed: number }[] = [];
    const server = { room, fault: undefined as Error | undefined };
    const crowded = new Error('too many');
    const open = async (): Promise<SqlSession> => {
      if (server.fault !== undefined) throw server.fault;
      if (opened.filter((one) => one.open).length >= server.room) throw crowded;
      const state = { open: true, closed: 0 };
      opened.push(state);
      return {
        run: async () => [],
        isOpen: () => state.open,
        close() {
          state.open = false;
          state.closed += 1;
        },
      };
    };
    const pool = sessionPool(open, (thrown) => thrown === crowded, most);
    const soon = async (session: Promise<SqlSession>) =>
      Promise.race([session, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))]);
    return { pool, opened, server, soon };
  }

  it('uses one again, opens up to its limit, and then lets callers wait in turn', async () => {
    const { pool, opened, soon } = poolOn({});
    const first = await pool.acquire();
    pool.release(first);
    expect(await pool.acquire()).toBe(first);
    const others = [await pool.acquire(), await pool.acquire()];
    const waiting = [pool.acquire(), pool.acquire()];
    expect(await soon(waiting[0] as Promise<SqlSession>)).toBeUndefined();
    pool.release(first);
    expect(await waiting[0]).toBe(first);
    expect(await soon(waiting[1] as Promise<SqlSession>)).toBeUndefined();
    others[0]?.close();
    pool.release(others[0] as SqlSession);
    expect(await soon(waiting[1] as Promise<SqlSession>)).toBeDefined();
    expect(opened).toHaveLength(4);
    pool.close();
  });

  it('gives out none that is closed, and closes those that are unused for half a minute', async () => {
    const { pool, opened } = poolOn({});
    const [first, second] = [await pool.acquire(), await pool.acquire()];
    pool.release(first);
    pool.release(second);
    second.close();
    expect(await pool.acquire()).toBe(first);
    vi.advanceTimersByTime(20_000);
    pool.release(first);
    vi.advanceTimersByTime(30_000);
    expect(opened.map(({ open }) => open)).toEqual([true, false]);
    vi.advanceTimersByTime(10_000);
    expect(opened.map(({ open }) => open)).toEqual([false, false]);
    const lost = await pool.acquire();
    pool.release(lost);
    lost.close();
    vi.advanceTimersByTime(10_000);
    expect(opened[2]).toEqual({ open: false, closed: 2 });
    const third = await pool.acquire();
    pool.release(third);
    pool.reset();
    expect(third.isOpen()).toBe(false);
    const fourth = await pool.acquire();
    pool.close();
    expect(fourth.isOpen()).toBe(true);
    pool.release(fourth);
    expect(fourth.isOpen()).toBe(false);
    await expect(pool.acquire()).rejects.toThrow('the store is closed');
  });

  it('shares those that are open while the server has no more, and fails if it has none', async () => {
    const { pool, opened, server, soon } = poolOn({ room: 1 });
    const first = await pool.acquire();
    const second = pool.acquire();
    expect(await soon(second)).toBeUndefined();
    pool.release(first);
    expect(await second).toBe(first);
    server.room = 2;
    const third = pool.acquire();
    expect(await soon(third)).toBeUndefined();
    vi.advanceTimersByTime(10_000);
    const fresh = await soon(pool.acquire());
    expect([fresh === undefined, fresh === first]).toEqual([false, false]);
    pool.release(first);
    expect(await third).toBe(first);
    server.fault = new Error('refused');
    await expect(pool.acquire()).rejects.toThrow('refused');
    expect(opened).toHaveLength(2);
    pool.close();
    const none = poolOn({ room: 0 });
    await expect(none.pool.acquire()).rejects.toThrow('too many');
    none.server.room = 1;
    expect(await none.pool.acquire()).toBeDefined();
    none.pool.close();
  });
});

describe.each(SERVERS)('a gate on a $name whose connections others take', ({ start }) => {
  let server: TestServer;
  let world: World;
  let app: App;
  let url: string;
  const others: SqlSession[] = [];
  const as = (user: string) => url.replace(/\/\/\w+@/, `//${user}@`);
  beforeAll(async () => {
    server = await start();
    url = await server.database('gate');
    await ready(server, url);
    await server.grantTables('gate', url);
    await server.grantTables('others', url);
    // PostgreSQL has 40 here.
    if (server.kind === 'mysql') await server.run(url, 'SET GLOBAL max_connections = 40');
    world = await startWorld({
      profile: 'A',
      environment: { DATABASE_URL: as('gate'), COURSEGATE_SECRET: 'k'.repeat(32) },
      overrides: {
        store: { kind: server.kind, url: { env: 'DATABASE_URL' } },
        secret: { env: 'COURSEGATE_SECRET' },
        limits: { address: 'unlimited', client: 'unlimited', member: 'unlimited' },
      },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    for (const one of others) one.close();
    await world.close();
    await server.close();
  });

  const connected = () => insistently(async () => (await connect(app)) as unknown as Tokens);
  const refresh = ({ refresh_token }: Tokens) => token(app, refreshForm(app, refresh_token));
  const takeTheRest = async () => {
    for (;;) {
      try {
        others.push(await server.dialect.connect(as('others')));
      } catch (thrown) {
        if (server.dialect.isCrowded(thrown)) return;
        throw thrown;
      }
    }
  };

  it('works with those that it has', async () => {
    const connections: Tokens[] = [];
    while (connections.length < 12) connections.push(await connected());
    await takeTheRest();
    // Repeats a 503, as clients do: on a slow machine, the last in the queue may wait for too long.
    const answers = await Promise.all(connections.map((one) => patiently(() => refresh(one))));
    expect(answers.map(({ status }) => status)).toEqual(connections.map(() => 200));
    for (const one of others.splice(0)) one.close();
  });

  it('answers 503 in time while it has none, and works again when there are some', async () => {
    const [used, unused] = [await connected(), await connected()];
    // Until the gate has none left to lose. A server needs a moment to end one, also one of its owner.
    do {
      await takeTheRest();
      await sleep(100);
      await takeTheRest();
    } while ((await server.disconnect('gate').catch(() => 1)) > 0);
    for (const ask of [
      async () => (await refresh(used)).status,
      // A token that was used in the last seconds would still be admitted.
      () => statusOf(world.origin, unused.access_token),
      async () => (await fetch(`${world.admin}/readyz`)).status,
    ]) {
      expect(await timeOf(async () => expect(await ask()).toBe(503))).toBeLessThan(IN_TIME);
    }
    for (const one of others.splice(0)) one.close();
    await expect.poll(() => statusOf(world.origin, unused.access_token), { timeout: 20_000 }).toBe(200);
    expect(await refresh(used)).toMatchObject({ status: 200 });
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
