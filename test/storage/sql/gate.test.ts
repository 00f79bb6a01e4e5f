import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insistently } from '../../faults/patiently.ts';
import { authorizationRequest, bearer, introspect, redeem, refresh, registerApp, revoke } from '../../support/app.ts';
import { approve, SAM } from '../../support/member.ts';
import { startWorld, type World } from '../../support/world.ts';
import { ready, SERVERS, type TestServer } from './servers.ts';

describe.each(SERVERS)('two gates on $name', ({ start }) => {
  let server: TestServer;
  let world: World;
  let replica: World;
  beforeAll(async () => {
    server = await start();
    const url = await server.database('gate');
    await ready(server, url);
    const shared = { profile: 'A', environment: { DATABASE_URL: url, COURSEGATE_SECRET: 'k'.repeat(32) } };
    const store = { kind: server.kind, url: { env: 'DATABASE_URL' } };
    const overrides = { store, secret: { env: 'COURSEGATE_SECRET' } };
    world = await startWorld({ ...shared, overrides });
    // The same origin on another port, as if a load balancer split the requests between the two.
    const upstreams = Object.fromEntries(Object.entries(world.school.urls).map(([name, at]) => [name, { url: at }]));
    replica = await startWorld({ ...shared, overrides: { ...overrides, origin: world.origin, upstreams } });
  });
  afterAll(async () => {
    await replica.close();
    await world.close();
    await server.close();
  });

  const connect = async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app);
    const returned = await approve(request.url, app.redirectUri, { member: SAM });
    return { app, tokens: await redeem(app, request, returned) };
  };
  const courses = async (gate: World, token: string) =>
    (await fetch(`${gate.origin}/api/v1/courses?per_page=2`, { headers: bearer(token) })).status;
  const post = (gate: World, path: string, body: Record<string, string>) =>
    fetch(gate.origin + path, { method: 'POST', body: new URLSearchParams(body) });

  it('complete the main flow, and revoke at the other before cached decisions expire', async () => {
    const { app, tokens } = await connect();
    expect(await courses(world, tokens.access_token)).toBe(200);
    expect(await introspect(app, tokens.access_token)).toMatchObject({ active: true, sub: 'm-1001' });
    const renewed = await refresh(app, String(tokens.refresh_token));
    expect(await courses(replica, renewed.access_token)).toBe(200);
    await revoke(app, String(renewed.refresh_token));
    // Less than the five seconds for which a decision is cached.
    await expect.poll(() => courses(replica, renewed.access_token), { interval: 20, timeout: 4000 }).toBe(401);
    expect(await introspect(app, tokens.access_token)).toEqual({ active: false });
  });

  it('redeem one code once', async () => {
    const app = await registerApp(world.origin);
    const { request, returned } = await insistently(async () => {
      const begun = await authorizationRequest(app);
      return { request: begun, returned: await approve(begun.url, app.redirectUri, { member: SAM }) };
    });
    const body = {
      grant_type: 'authorization_code',
      code: String(returned.searchParams.get('code')),
      redirect_uri: app.redirectUri,
      client_id: app.client.client_id,
      code_verifier: request.verifier,
      resource: app.resource,
    };
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => post(at % 2 ? world : replica, '/api/oauth/token', body)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const [given] = await Promise.all(
      answers.filter(({ status }) => status === 200).map((answer) => answer.json() as Promise<Record<string, string>>),
    );
    for (const gate of [world, replica]) expect(await courses(gate, String(given?.access_token))).toBe(200);
  });

  it('answer 503 while the server is down, and keep every token', async () => {
    const { app, tokens } = await connect();
    const unused = await connect();
    const renewal = {
      grant_type: 'refresh_token',
      refresh_token: String(tokens.refresh_token),
      client_id: app.client.client_id,
      resource: app.resource,
    };
    await server.kill();
    try {
      // A token that was not used in the last seconds: a cached one would still be admitted.
      expect(await courses(world, unused.tokens.access_token)).toBe(503);
      for (const path of ['/api/oauth/token', '/api/oauth/revoke']) {
        const answer = await post(world, path, { ...renewal, token: tokens.access_token });
        expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringMatching(/invalid_/)]);
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      }
      expect((await fetch(`${world.admin}/readyz`)).status).toBe(503);
      expect((await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
    } finally {
      await server.start();
    }
    await expect.poll(() => courses(world, unused.tokens.access_token), { timeout: 10_000 }).toBe(200);
    expect((await post(world, '/api/oauth/token', renewal)).status).toBe(200);
  });
});

if (SERVERS.length === 0) it.skip('needs PostgreSQL or MariaDB');
