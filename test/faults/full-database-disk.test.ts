import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { ready, SERVERS } from '../storage/sql/servers.ts';
import { postForm, registerApp } from '../support/app.ts';
import { connect, read, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { gateProcess } from './gate-process.ts';
import { smallDisk } from './small-disk.ts';

const disk = smallDisk(400);
const closing: (() => unknown)[] = [];
afterEach(async () => {
  disk.empty();
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(() => disk.isMounted && disk.close());

describe.skipIf(!disk.isMounted).each(SERVERS)('a gate whose $name has a full disk', ({ start }) => {
  it('answers 503 and never 401, and has all that it acknowledged when there is space again', async () => {
    vi.stubEnv('TMPDIR', disk.path);
    const server = await start();
    vi.unstubAllEnvs();
    closing.push(() => server.close());
    const url = await server.database('gate');
    await ready(server, url);
    const gate = await gateProcess({
      environment: {
        COURSEGATE__STORE: `{ kind: ${server.kind}, url: { env: DATABASE_URL } }`,
        DATABASE_URL: url,
        COURSEGATE__SECRET: '{ env: TEST_SECRET }',
        TEST_SECRET: 'k'.repeat(40),
        COURSEGATE__CLIENTS__REGISTRATION__PER_ADDRESS_PER_MINUTE: '100000',
      },
    });
    closing.push(() => gate.close());
    await gate.start();
    const app = await registerApp(gate.origin);
    const connections: Tokens[] = [];
    while (connections.length < 4) connections.push((await connect(app)) as unknown as Tokens);

    const register = async () =>
      read(
        await fetch(String(app.server.registration_endpoint), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            redirect_uris: [`https://app.example/${'long/'.repeat(150)}`],
            token_endpoint_auth_method: 'none',
          }),
        }),
      );
    const registered: string[] = [];
    let refused = 0;
    disk.fillUpTo(0);
    const registers = async () => {
      while (refused < 40 && registered.length < 4000) {
        const { status, body } = await register();
        if (status === 201) registered.push(String(body.client_id));
        else {
          expect({ status, body }).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
          refused += 1;
        }
      }
    };
    await Promise.all([1, 2, 3, 4, 5, 6].map(registers));
    expect(refused).toBeGreaterThanOrEqual(40);
    expect(gate.log()).toMatch(/No space left on device|table '\w+' is full|Disk full/);
    /** Refreshes a connection, and keeps what was acknowledged. */
    const refresh = async (at: number) => {
      const { status, body } = await token(app, refreshForm(app, connections[at]?.refresh_token));
      if (status === 200) connections[at] = body;
      return status;
    };
    const readAt = (at: number) => statusOf(gate.origin, String(connections[at]?.access_token));
    for (const at of connections.keys()) {
      // What is stored can still be read. A refresh may find space within what the server has.
      expect(await readAt(at)).toBe(200);
      expect([200, 503]).toContain(await refresh(at));
    }

    if (server.kind === 'postgres') {
      // Without space for its log, PostgreSQL stops, and starts only when there is some.
      const log = "SELECT pg_logical_emit_message(true, 'test', repeat('x', 4000000)) FROM generate_series(1, 40)";
      await vi.waitFor(
        async () => {
          await server.run(url, log).catch(() => {});
          expect([await refresh(0), await readAt(0), (await register()).status]).toEqual([503, 503, 503]);
        },
        { timeout: 20_000, interval: 200 },
      );
      disk.empty();
      await server.kill();
      await server.start();
    }
    disk.empty();
    await vi.waitFor(async () => expect((await register()).status).toBe(201), { timeout: 90_000, interval: 200 });
    await vi.waitFor(async () => expect((await fetch(`${gate.admin}/readyz`)).status).toBe(200), { timeout: 10_000 });
    const known = async (client: string) =>
      (
        await postForm(app.server.pushed_authorization_request_endpoint, {
          response_type: 'code',
          client_id: client,
          redirect_uri: `https://app.example/${'long/'.repeat(150)}`,
          code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_challenge_method: 'S256',
          resource: app.resource,
        })
      ).status;
    for (const client of registered) expect([client, await known(client)]).toEqual([client, 201]);
    for (const at of connections.keys()) {
      expect(await readAt(at)).toBe(200);
      expect(await refresh(at)).toBe(200);
    }
  }, 240_000);
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
