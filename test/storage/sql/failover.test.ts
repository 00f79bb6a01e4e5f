import { afterAll, expect, it } from 'vitest';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import { postgres } from '../../../src/storage/sql/postgres.ts';
import { sqlStore } from '../../../src/storage/sql/sql-store.ts';
import { startChaosProxy } from '../../support/chaos-proxy.ts';
import { postgresPresent, startPostgres } from '../../support/postgres.ts';
import { recovering, token } from '../failing-store.ts';

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

it.skipIf(!postgresPresent())(
  'loses no acknowledged commit when a synchronous replica of PostgreSQL takes over',
  async () => {
    const primary = await startPostgres();
    closing.push(() => primary.close());
    const standby = await primary.replica();
    closing.push(() => standby.close());
    primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
    primary.run('SELECT pg_reload_conf()');
    await expect
      .poll(() => primary.run('SELECT sync_state FROM pg_stat_replication'), { timeout: 20_000 })
      .toBe('sync');
    // An address that follows the primary.
    const address = { path: `${primary.socket}/.s.PGSQL.5432` };
    const proxy = await startChaosProxy(address);
    closing.push(() => proxy.close());
    const database = sqlDatabase(postgres, `postgres://postgres@127.0.0.1:${proxy.port}/postgres`, 4);
    const store = sqlStore(database, Date.now);
    closing.push(() => store.close());
    await recovering(store);

    const acknowledged: string[] = [];
    const failures: { readonly code: string; readonly took: number }[] = [];
    let writing = true;
    const write = async (writer: number) => {
      for (let at = 0; writing; at += 1) {
        const id = `${writer}-${at}`;
        const before = performance.now();
        try {
          if (await store.commit([{ op: 'create', entry: token(id) }])) acknowledged.push(id);
        } catch (thrown) {
          failures.push({ code: (thrown as { code: string }).code, took: performance.now() - before });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    };
    const writers = [0, 1, 2, 3].map(write);
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(50);
    await primary.kill();
    const before = acknowledged.length;
    // The replica is refused until it is promoted.
    address.path = `${standby.socket}/.s.PGSQL.5432`;
    await expect.poll(() => failures.length, { timeout: 20_000 }).toBeGreaterThan(20);
    expect(acknowledged).toHaveLength(before);
    standby.run('SELECT pg_promote()');
    await expect.poll(() => acknowledged.length, { timeout: 20_000 }).toBeGreaterThan(before + 50);
    writing = false;
    await Promise.all(writers);
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['store_unavailable']));
    expect(Math.max(...failures.map(({ took }) => took))).toBeLessThan(1000);
    const missing = [];
    for (const id of acknowledged) if ((await store.get('AccessToken', id)) === undefined) missing.push(id);
    expect(missing).toEqual([]);
  },
  120_000,
);
