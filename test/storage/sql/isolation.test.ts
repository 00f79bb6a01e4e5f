import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
