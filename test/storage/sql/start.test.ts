import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { StoreNotReady } from '../../../src/storage/open-failure.ts';
import { sqlBus } from '../../../src/storage/sql/bus.ts';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import { mysql } from '../../../src/storage/sql/mysql.ts';
import { type SqlDialect, type SqlValue, sql } from '../../../src/storage/sql/session.ts';
import { sqlStore } from '../../../src/storage/sql/sql-store.ts';
import { startMariaDb } from '../../support/mariadb.ts';
import { check, message, started } from './check.ts';
import { MYSQL_SERVERS, ready, SERVERS, type TestServer } from './servers.ts';

describe.each(SERVERS)('at the start, $name', ({ start }) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  const url = async (name: string, user?: string) => {
    const own = await server.database(name);
    return user === undefined ? own : own.replace(/\/\/\w+@/, `//${user}@`);
  };

  it('is used by two gates that create the tables at once, with a warning about its durability', async () => {
    const pair = await url('pair');
    const [one, other] = await Promise.all([started(server.dialect, pair), started(server.dialect, pair)]);
    // The test's own server does not wait for the disk.
    expect(one).toEqual([expect.stringMatching(/fsync = off|innodb_flush_log_at_trx_commit is 2/)]);
    expect(other).toEqual(one);
  });

  it('needs a user with rights on the tables only, once they are there', async () => {
    const rights = await url('rights');
    await ready(server, rights);
    await server.grantTables('gate', rights);
    expect(await started(server.dialect, await url('rights', 'gate'))).toHaveLength(1);
    // Before PostgreSQL 15, every user may create tables.
    if (server.kind === 'postgres') await server.run(await url('bare'), 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    const bare = await started(server.dialect, await url('bare', 'gate'));
    expect(message(bare)).toMatch(
      /cannot be used: .*(permission denied|denied).*(docs\/stores\.md|name of the database)/s,
    );
    expect(bare).not.toBeInstanceOf(StoreNotReady);
  });

  it('is refused if a newer version wrote the tables', async () => {
    const newer = await url('newer');
    await ready(server, newer);
    await server.run(newer, 'UPDATE coursegate_schema SET version = 99');
    expect(message(await started(server.dialect, newer))).toContain(
      'was written by a newer version of coursegate (schema 99',
    );
  });

  it('is refused with a database that does not exist, and waited for while it is down', async () => {
    const none = (await url('rights')).replace('/rights', '/none');
    expect(message(await started(server.dialect, none))).toMatch(
      /cannot be used: .*none.* Check the name of the database/,
    );
    await server.kill();
    try {
      expect(await check(server.dialect, none)).toBeInstanceOf(StoreNotReady);
    } finally {
      await server.start();
    }
  });

  it('is used with fewer connections than a gate would like', async () => {
    const few = await url('few');
    await ready(server, few);
    await server.grantTables('limited', few, 2);
    const database = sqlDatabase(server.dialect, await url('few', 'limited'), 10);
    const store = sqlStore(database, Date.now);
    await started(server.dialect, few);
    await expect.poll(() => store.get('A', 'a').then(() => 'read', String), { timeout: 10_000 }).toBe('read');
    const reads = await Promise.allSettled(Array.from({ length: 20 }, () => store.get('A', 'a')));
    expect(reads.filter(({ status }) => status === 'rejected')).toEqual([]);
    await store.close();
  });

  it('answers 503 while it accepts no writes, is not read as a replica, and is used again afterwards', async () => {
    const readOnly = await url('readonly');
    await ready(server, readOnly);
    await server.grantTables('reader', readOnly);
    const as = await url('readonly', 'reader');
    const database = sqlDatabase(server.dialect, as, 2);
    const store = sqlStore(database, Date.now);
    const bus = sqlBus(database, as);
    const entry = { kind: 'A', id: 'a', payload: '', expiresAt: undefined, references: {} };
    const put = () =>
      store.commit([{ op: 'put', entry }]).then(
        (done) => done,
        ({ code }: { code: string }) => code,
      );
    await expect.poll(put, { timeout: 10_000 }).toBe(true);
    await server.demote(readOnly);
    try {
      await expect.poll(put, { timeout: 10_000 }).toBe('store_unavailable');
      const read = () =>
        store.get('A', 'a').then(
          () => 'read',
          ({ code }: { code: string }) => code,
        );
      await expect.poll(read, { timeout: 10_000 }).toBe('store_unavailable');
      expect(await check(server.dialect, as)).toBeInstanceOf(StoreNotReady);
    } finally {
      await server.promote(readOnly);
    }
    await expect.poll(put, { timeout: 20_000, interval: 200 }).toBe(true);
    await bus.close();
    await store.close();
  });

  it('reads by an index in every statement, and never a whole table', async () => {
    const plans = await url('plans');
    await ready(server, plans);
    const seen = new Map<string, readonly SqlValue[]>();
    const spied: SqlDialect = {
      ...server.dialect,
      async connect(at) {
        const session = await server.dialect.connect(at);
        return {
          ...session,
          run(...statements) {
            for (const { text, values } of statements) {
              if (/^(SELECT|UPDATE|DELETE).*coursegate_(entry|charge|quota)/.test(text)) seen.set(text, values);
            }
            return session.run(...statements);
          },
        };
      },
    };
    const store = sqlStore(sqlDatabase(spied, plans, 1), Date.now);
    const entry = (id: string, over = {}) => ({
      ...{
        kind: 'AccessToken',
        id,
        payload: 'x'.repeat(900),
        expiresAt: 4e9,
        references: { grant: `g${id}`, client: 'c' },
      },
      ...over,
    });
    const fill = Array.from({ length: 600 }, (_, at) => ({ op: 'put', entry: entry(`id${at}`) }) as const);
    for (let at = 0; at < fill.length; at += 50) await store.commit(fill.slice(at, at + 50));
    const quota = { name: 'q', total: 9000, perClient: 5000, perNetwork: 4000, whenFull: 'evict' } as const;
    for (const [at, network] of ['n', 'n', 'n', 'm', 'o', 'p', 'q', 'r'].entries()) {
      const charge = { quota, network, wider: `w ${network}`, client: 'c' };
      await store.commit([{ op: 'put', entry: entry(`charged${at}`, { charge }) }]);
    }
    for (const name of ['grant', 'member', 'client', 'uid'] as const) {
      await store.findBy('AccessToken', name, 'g', 3);
      await store.count('AccessToken', name, 'g');
      await store.commit([{ op: 'deleteBy', kind: 'AccessToken', name, value: 'gid7' }]);
    }
    await store.commit([
      { op: 'consume', kind: 'AccessToken', id: 'id1' },
      { op: 'delete', kind: 'AccessToken', id: 'id2' },
      { op: 'update', entry: entry('id3'), revision: 1 },
      { op: 'replace', kind: 'AccessToken', id: 'id4', was: 'x', payload: 'y' },
    ]);
    await store.scan(undefined, undefined, 5);
    await store.scan(['AccessToken'], undefined, 5);
    await store.sweep(5);
    await store.close();
    expect(seen.size).toBeGreaterThan(25);
    const session = await server.dialect.connect(plans);
    for (const [text, values] of seen) {
      const [plan = []] = await session.run(sql(`EXPLAIN ${text}`, ...values));
      // The number of entries, which an operator's command asks for once, is counted in an index, up to a limit.
      if (text.includes('AS counted')) continue;
      expect([text, JSON.stringify(plan)]).toEqual([text, expect.not.stringMatching(/Seq Scan|"type":"(ALL|index)"/)]);
    }
    session.close();
  });
});

describe.each(MYSQL_SERVERS)('at the start, $name with a binary log', ({ program }) => {
  it('causes a warning until it waits for the disk at each commit', async () => {
    const settings = ['--log-bin=log', '--server-id=1', '--sync-binlog=0', '--innodb-flush-log-at-trx-commit=1'];
    const server = await startMariaDb(false, settings, program);
    onTestFinished(() => server.close());
    const url = `mysql://root@localhost/mysql?socketPath=${encodeURIComponent(server.socket)}`;
    expect(await started(mysql, url)).toEqual(['sync_binlog is 0: a power failure can lose the last commits']);
    await server.ask('SET GLOBAL sync_binlog = 1');
    expect(await started(mysql, url)).toEqual([]);
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
