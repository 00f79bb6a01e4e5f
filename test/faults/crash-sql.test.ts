import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { SERVERS, type TestServer } from '../storage/sql/servers.ts';
import { startChaosProxy } from '../support/chaos-proxy.ts';
import { crashRounds, type Victim } from './crash-rounds.ts';
import { familiesInSql } from './families.ts';
import { gateProcess } from './gate-process.ts';

/**
 * A gate on a database through a proxy: killed with a COMMIT on its way, with it done and its answer on its way, and
 * after the database itself was killed.
 */
async function gateOnSql(server: TestServer): Promise<Victim> {
  const proxy = await startChaosProxy({ path: server.path });
  const url = await server.database('gate');
  const gate = await gateProcess({
    environment: {
      COURSEGATE__STORE: `{ kind: ${server.kind}, url: { env: DATABASE_URL } }`,
      COURSEGATE__SECRET: '{ env: COURSEGATE_SECRET }',
      DATABASE_URL: await server.database('gate', proxy.port),
      COURSEGATE_SECRET: 'k'.repeat(32),
    },
  });
  const killWhen = async (at: 'request' | 'answer', done: Promise<unknown>) => {
    // PostgreSQL gets the COMMIT before it has answered what comes first, MariaDB after.
    const answer = server.kind === 'postgres' ? /COMMIT/ : /^/;
    // Some requests need no commit, so there may be fewer.
    await Promise.race([proxy.reached({ pattern: /COMMIT/, at, answer, after: randomInt(0, 6) }), done]);
    await gate.kill();
    proxy.heal();
  };
  return {
    gate,
    families: () => familiesInSql(server.dialect, url),
    ills: {
      'with a commit on its way': (done) => killWhen('request', done),
      'with a commit done and its answer on its way': (done) => killWhen('answer', done),
      async 'after the database was killed'() {
        await sleep(randomInt(0, 16));
        await server.kill();
        // Requests in progress get an error; then the gate is killed too, as if the machine had died.
        await sleep(randomInt(0, 30));
        await gate.kill();
        await server.start();
      },
    },
    async close() {
      await gate.close();
      await proxy.close();
      await server.close();
    },
  };
}

/** One database stands for both in the short form. */
const WHOLE = Number(process.env.COURSEGATE_FAULT_ROUNDS ?? 0) >= 100;

describe.each(WHOLE ? SERVERS : SERVERS.slice(0, 1))(
  'the gate on $name, killed while it issues, rotates and revokes',
  ({ start }) => {
    crashRounds(async () => gateOnSql(await start()));
  },
);

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
