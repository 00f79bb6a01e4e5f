import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlSession } from '../../../src/storage/sql/session.ts';
import { insistently, patiently } from '../../faults/patiently.ts';
import { type App, registerApp } from '../../support/app.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../../support/connection.ts';
import { timeOf } from '../../support/pace.ts';
import { startWorld, type World } from '../../support/world.ts';
import { IN_TIME } from '../failing-store.ts';
import { ready, SERVERS, type TestServer } from './servers.ts';

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
