import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors.ts';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import { type SqlDialect, sql } from '../../../src/storage/sql/session.ts';
import { sqlStore } from '../../../src/storage/sql/sql-store.ts';
import { consume, recovering, token } from '../failing-store.ts';
import { ready, SERVERS, type TestServer } from './servers.ts';

const DEFAULT = {
  postgres: "ALTER DATABASE gate SET default_transaction_isolation = 'serializable'",
  mysql: 'SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE',
};
const OF_SESSION = {
  postgres: 'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE',
  mysql: 'SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE',
};
/** Serialization failure; what MariaDB and MySQL report instead; and what MariaDB does from version 11.6. */
const FAILURE = { postgres: /^40001$/m, mysql: /^ER_(LOCK_DEADLOCK|CHECKREAD)$/m };

describe.each(SERVERS)('on a $name that is serializable by default', ({ start }) => {
  let server: TestServer;
  let url: string;
  beforeAll(async () => {
    server = await start();
    url = await server.database('gate');
    await server.run(url, DEFAULT[server.kind]);
    await ready(server, url);
  });
  afterAll(() => server.close());

  it('a connection of the store reads what is committed', async () => {
    const session = await server.dialect.connect(url);
    const name = server.kind === 'postgres' ? 'transaction_isolation' : "VARIABLES LIKE '%t%_isolation'";
    const [rows = []] = await session.run(sql(`SHOW ${name}`));
    session.close();
    expect(JSON.stringify(rows)).toMatch(/read.committed/i);
    expect(JSON.stringify(rows)).not.toMatch(/serializable/i);
  });

  it('a commit that the server could not serialize is tried again, and is done once', async () => {
    const failures = new Set<unknown>();
    const serializable: SqlDialect = {
      ...server.dialect,
      async connect(at) {
        const session = await server.dialect.connect(at);
        await session.run(sql(OF_SESSION[server.kind]));
        return {
          ...session,
          run: (...statements) =>
            session.run(...statements).catch((thrown: { readonly code?: string }) => {
              failures.add(thrown.code);
              throw thrown;
            }),
        };
      },
    };
    const stores = [1, 2].map(() => sqlStore(sqlDatabase(serializable, url, 4), Date.now));
    for (const store of stores) await recovering(store);
    for (let round = 0; round < 20; round += 1) {
      const family = `family ${round}`;
      await stores[0]?.commit([{ op: 'put', entry: token(family) }]);
      const refreshes = [0, 1, 2, 3].map((at) =>
        stores[at % 2]?.commit([consume(family), { op: 'create', entry: token(`token ${round}`) }]),
      );
      expect((await Promise.all(refreshes)).filter((done) => done)).toHaveLength(1);
      const creations = [0, 1, 2, 3].map((at) =>
        stores[at % 2]?.commit([{ op: 'create', entry: token(`new ${round}`) }]),
      );
      expect((await Promise.all(creations)).filter((done) => done)).toHaveLength(1);
    }
    expect([...failures].join('\n')).toMatch(FAILURE[server.kind]);
    for (const store of stores) await store.close();
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');

describe('work on a database', () => {
  type Fault = 'again' | 'demoted' | 'lost' | 'failed';
  const failure = (fault: Fault) =>
    Object.assign(new Error(`it is ${fault}`), { fault, code: 'E1', detail: 'a value' });

  /** A database whose connections say what they were asked. COMMIT fails with the fault, if there is one. */
  function fake() {
    const sessions: { ran: string[]; closed: number }[] = [];
    const state = { commitFault: undefined as Fault | undefined, migrations: 0, migrationFails: false };
    const dialect = {
      connect: async () => {
        const session = { ran: [] as string[], closed: 0 };
        sessions.push(session);
        return {
          run: async (...statements: readonly { readonly text: string }[]) => {
            session.ran.push(...statements.map(({ text }) => text));
            if (state.commitFault !== undefined && session.ran.at(-1) === 'COMMIT') throw failure(state.commitFault);
            return statements.map(({ text }) => [{ text }]);
          },
          isOpen: () => session.closed === 0,
          close: () => {
            session.closed += 1;
          },
        };
      },
      migrate: async () => {
        state.migrations += 1;
        if (state.migrationFails) throw failure('failed');
      },
      faultOf: (thrown: { readonly fault?: Fault }) => thrown.fault ?? 'failed',
      isCrowded: () => false,
    };
    return { sessions, state, database: sqlDatabase(dialect as never, 'url', 3) };
  }
  /** Fails a number of times, and then returns 'done'. */
  const failing = (fault: Fault, times: number) => {
    let tries = 0;
    const work = async () => {
      tries += 1;
      if (tries <= times) throw failure(fault);
      return 'done';
    };
    return { work, tries: () => tries };
  };

  it.each<[Fault, number, string, number, readonly number[]]>([
    ['again', 4, 'done', 5, [0]],
    ['again', 5, 'it is again', 5, [0]],
    ['lost', 2, 'done', 3, [1, 1, 0]],
    ['lost', 5, 'it is lost', 5, [1, 1, 1, 1, 1]],
    ['demoted', 1, 'done', 2, [1, 0]],
    ['failed', 1, 'it is failed', 1, [1]],
  ])('that fails as %s, %i times, is %s after %i tries', async (fault, times, outcome, tries, closed) => {
    const { sessions, database } = fake();
    const one = failing(fault, times);
    const done = await database.use(one.work).catch(({ code, cause }) => {
      expect([code, cause.code, cause.detail]).toEqual(['store_unavailable', 'E1', undefined]);
      return cause.message;
    });
    expect([done, one.tries()]).toEqual([outcome, tries]);
    expect(sessions.map((session) => Math.min(session.closed, 1))).toEqual(closed);
    expect(sessions[0]?.ran).toEqual(fault === 'again' ? Array(times).fill('ROLLBACK') : []);
    database.close();
  });

  it('closes all other connections once the server accepts no writes', async () => {
    const { sessions, database } = fake();
    await Promise.all([1, 2].map(() => database.use(async () => new Promise((resolve) => setTimeout(resolve, 20)))));
    expect(sessions.map(({ closed }) => closed)).toEqual([0, 0]);
    await database.use(failing('demoted', 1).work);
    expect(sessions.map(({ closed }) => Math.min(closed, 1))).toEqual([1, 1, 0]);
    database.close();
  });

  it('is refused by its own error at once, and rolled back', async () => {
    const { sessions, database } = fake();
    let tries = 0;
    const refused = database.use(async () => {
      tries += 1;
      throw new GatewayError('too_many_requests');
    });
    await expect(refused).rejects.toMatchObject({ code: 'too_many_requests' });
    expect([tries, sessions[0]]).toEqual([1, { ran: ['ROLLBACK'], closed: 0 }]);
    database.close();
  });

  it('in a transaction begins with its first statement, and ends with COMMIT or ROLLBACK', async () => {
    const { sessions, state, database } = fake();
    const [one, two, three] = ['1', '2', '3'].map((text) => ({ text, values: [] }));
    const found = await database.transact(async ({ run, commit }) => {
      const rows = [await run(one as never), await run(two as never)];
      await commit(three as never);
      return rows;
    });
    expect(found).toEqual([[[{ text: '1' }]], [[{ text: '2' }]]]);
    await database.transact(async ({ run }) => run(one as never));
    await database.transact(async () => undefined);
    expect(sessions.map(({ ran }) => ran)).toEqual([['BEGIN', '1', '2', '3', 'COMMIT', 'BEGIN', '1', 'ROLLBACK']]);

    // What was sent last may have been done.
    state.commitFault = 'lost';
    let tries = 0;
    const lost = database.transact(async ({ commit }) => {
      tries += 1;
      await commit(one as never);
    });
    await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' });
    expect([tries, sessions.length, sessions[0]?.closed === 0]).toEqual([1, 1, false]);
    expect(state.migrations).toBe(1);
    database.close();
  });

  it('closes a connection whose tables could not be created', async () => {
    const { sessions, state, database } = fake();
    state.migrationFails = true;
    await expect(database.use(async () => 1)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(sessions.map(({ closed }) => closed)).toEqual([1]);
    state.migrationFails = false;
    expect(await database.use(async () => 1)).toBe(1);
    expect(await Promise.all([1, 2].map((at) => database.use(async () => at)))).toEqual([1, 2]);
    expect(state.migrations).toBe(2);
    database.close();
  });
});
