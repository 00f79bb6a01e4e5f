import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import { sqlStore } from '../../../src/storage/sql/sql-store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { startChaosProxy } from '../../support/chaos-proxy.ts';
import { oneSchool, rawStoreConformance, storeConformance } from '../conformance.ts';
import { consume, everyMethod, failInTime, failing, recovering, token } from '../failing-store.ts';
import { emptied, ready, SERVERS, type TestServer } from './servers.ts';

describe.each(SERVERS)('$name', ({ start }) => {
  let server: TestServer;
  let url: string;
  beforeAll(async () => {
    server = await start();
    url = await server.database('gate');
    await ready(server, url);
  });
  afterAll(() => server.close());
  beforeEach(() => emptied(server, url));

  const open = (clock: () => number = Date.now, at = url, most = 10) => {
    const store = sqlStore(sqlDatabase(server.dialect, at, most), clock);
    return store;
  };

  /** On a busy machine, some hundred reads at once may take longer than a request would wait. */
  const patient = (store: Store): Store => ({
    ...store,
    get: (kind, id) => vi.waitFor(() => store.get(kind, id), { timeout: 10_000, interval: 5 }),
  });
  storeConformance('sql', (clock) => patient(open(clock)));
  storeConformance('one school in sql', (clock) => patient(oneSchool(open(clock))));
  rawStoreConformance('sql', (clock) => open(clock));

  it('returns 503 in time while it is down, and works again afterwards', async () => {
    const store = open();
    await store.commit([{ op: 'put', entry: token('a') }]);
    await server.kill();
    try {
      await failInTime(() => everyMethod(store));
    } finally {
      await server.start();
    }
    await recovering(store);
    expect(await store.get('AccessToken', 'a')).toBeDefined();
    await store.close();
    await failing(store.get('AccessToken', 'a'));
  });

  it('returns 503 for writes while the server says that its disk is full, and can still be read', async () => {
    const store = open();
    await store.commit([{ op: 'put', entry: token('a') }]);
    // The server's answer to a write that does not fit.
    const full = {
      postgres: [
        "CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$",
        'CREATE TRIGGER full_disk BEFORE INSERT ON coursegate_entry FOR EACH ROW EXECUTE FUNCTION full_disk()',
      ],
      mysql: [
        "CREATE TRIGGER full_disk BEFORE INSERT ON coursegate_entry FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1021, MESSAGE_TEXT = 'Disk full'",
      ],
    };
    await server.run(url, ...full[server.kind]);
    try {
      await failing(store.commit([consume('a'), { op: 'put', entry: token('b') }]));
      expect((await store.get('AccessToken', 'a'))?.consumedAt).toBeUndefined();
    } finally {
      await server.run(url, `DROP TRIGGER full_disk${server.kind === 'postgres' ? ' ON coursegate_entry' : ''}`);
    }
    expect(await store.commit([consume('a'), { op: 'put', entry: token('b') }])).toBe(true);
    await store.close();
  });

  describe('behind a network that fails', () => {
    let proxy: Awaited<ReturnType<typeof startChaosProxy>>;
    let through: string;
    beforeAll(async () => {
      proxy = await startChaosProxy({ path: server.path });
      through = await server.database('gate', proxy.port);
    });
    afterAll(() => proxy.close());

    it('returns 503 in time while nothing is answered, also to more callers than connections', async () => {
      const store = open(Date.now, through, 2);
      await recovering(store);
      proxy.blackhole();
      try {
        await failInTime(() => [1, 2, 3].flatMap(() => everyMethod(store)));
      } finally {
        proxy.heal();
      }
      await recovering(store);
      await store.close();
    });

    it('does not apply a commit later that was sent while it hung', async () => {
      const store = open(Date.now, through);
      await recovering(store);
      await store.commit([{ op: 'put', entry: token('a') }]);
      const hung = proxy.reached({ pattern: /BEGIN/, at: 'answer' });
      const failed = failing(store.commit([consume('a')]));
      await hung;
      await failed;
      proxy.heal();
      await recovering(store);
      expect((await store.get('AccessToken', 'a'))?.consumedAt).toBeUndefined();
      await store.close();
    });

    it('fails a commit whose answer is lost, and does it once', async () => {
      const store = open(Date.now, through);
      await recovering(store);
      await store.commit([{ op: 'put', entry: token('a') }]);
      // PostgreSQL gets the COMMIT before it has answered what comes first, MariaDB after.
      const answer = server.kind === 'postgres' ? /COMMIT/ : /^/;
      const reached = proxy.reached({ pattern: /COMMIT/, at: 'answer', answer });
      const failed = failing(store.commit([{ op: 'create', entry: token('b') }, consume('a')]));
      await reached;
      proxy.cut();
      proxy.heal();
      // Repeating it would find that both are done, and report a used code.
      await failed;
      await recovering(store);
      expect((await store.get('AccessToken', 'a'))?.consumedAt).toBeDefined();
      expect(await store.get('AccessToken', 'b')).toBeDefined();
      await store.close();
    });

    it('repeats a commit whose connection was lost before its end', async () => {
      const store = open(Date.now, through);
      await recovering(store);
      await store.commit([{ op: 'put', entry: token('a') }]);
      const reached = proxy.reached({ pattern: /BEGIN/, at: 'answer' });
      const committed = store.commit([consume('a')]);
      await reached;
      proxy.cut();
      proxy.heal();
      expect(await committed).toBe(true);
      await store.close();
    });
  });

  it('lets one of twenty concurrent callers consume or create an entry, at two gates', async () => {
    const stores = [open(), open()];
    for (const store of stores) await recovering(store);
    await stores[0]?.commit([{ op: 'put', entry: token('a') }]);
    for (const mutation of [consume('a'), { op: 'create', entry: token('new') } as const]) {
      const attempts = await Promise.all(Array.from({ length: 20 }, (_, at) => stores[at % 2]?.commit([mutation])));
      expect(attempts.filter((won) => won)).toHaveLength(1);
      expect(attempts.filter((won) => won === false)).toHaveLength(19);
    }
    for (const store of stores) await store.close();
  });

  it('leaves no token behind when a grant is revoked while it is refreshed', async () => {
    const [gate, other] = [open(), open()];
    for (const store of [gate, other]) await recovering(store);
    const references = { grant: 'g' };
    for (let round = 0; round < 20; round += 1) {
      await gate.commit([{ op: 'put', entry: token('family', { kind: 'Family', references }) }]);
      const refresh = gate.commit([
        { op: 'consume', kind: 'Family', id: 'family' },
        { op: 'put', entry: token(`t${round}`, { references }) },
      ]);
      const revoke = other.commit([
        { op: 'deleteBy', kind: 'AccessToken', name: 'grant', value: 'g' },
        { op: 'deleteBy', kind: 'Family', name: 'grant', value: 'g' },
      ]);
      await Promise.all([refresh, revoke]);
      expect(await gate.findBy('AccessToken', 'grant', 'g')).toEqual([]);
    }
    await gate.close();
    await other.close();
  });

  it('commits in any order at two gates without failing, though they lock the same entries', async () => {
    const stores = [open(), open()];
    for (const store of stores) await recovering(store);
    const put = (id: string) => ({ op: 'put', entry: token(id, { references: { grant: 'g' } }) }) as const;
    const orders = [
      ['a', 'b', 'c'],
      ['c', 'b', 'a'],
      ['b', 'c', 'a'],
    ];
    const commits = Array.from({ length: 12 }, (_, at) => stores[at % 2]?.commit((orders[at % 3] ?? []).map(put)));
    expect(await Promise.all(commits)).toEqual(Array(12).fill(true));
    for (const store of stores) await store.close();
  });

  it('writes and deletes more entries at once than one statement holds', async () => {
    const store = open();
    const entries = Array.from({ length: 120 }, (_, at) => token(`t${at}`, { references: { client: 'c' } }));
    await store.commit(entries.map((entry) => ({ op: 'put', entry })));
    await store.commit(entries.map((entry) => ({ op: 'put', entry: { ...entry, payload: 'again' } })));
    expect(await store.findBy('AccessToken', 'client', 'c', 70)).toHaveLength(70);
    const found = await store.findBy('AccessToken', 'client', 'c');
    expect(found.map(({ payload }) => payload)).toEqual(Array(120).fill('again'));
    await store.commit(entries.slice(0, 110).map(({ kind, id }) => ({ op: 'delete', kind, id })));
    expect(await store.count('AccessToken', 'client', 'c')).toBe(10);
    await store.close();
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
