import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storedSuspensions } from '../../src/authorization-server/administration/suspensions.ts';
import { openStore } from '../../src/storage/open.ts';
import { type App, authorizationRequest, introspect, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET, command, commandSignature, send } from '../support/commands.ts';
import { approved, connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { OLU, offeredScopes, reachConsent, SAM } from '../support/member.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const ADMIN = { hmac: { secret: { env: 'COMMAND_SECRET' } } };
const ENVIRONMENT = { COMMAND_SECRET };
const SAM_ID = 'm-1001';
const OLU_ID = 'm-1002';

describe('the members and clients commands', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', environment: ENVIRONMENT, overrides: { admin: ADMIN } });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  const doors = async ({ access_token }: { access_token: string }) => [
    await statusOf(world.origin, access_token),
    (await introspect(app, access_token)).active,
  ];
  const member = async (id: string) => (await command(world.admin, `/members/${id}`, { method: 'GET' })).body;

  it('end all grants of a member, return their number, and leave other members alone', async () => {
    const other = await registerApp(world.origin);
    const [first, second] = [await connect(app), await connect(other)];
    const olu = await connect(app, { member: OLU });
    const { form } = await approved(app);
    // The gate has cached it, so a revocation that waited for the cache to expire would fail here.
    expect(await doors(first)).toEqual([200, true]);
    const before = (await member(SAM_ID)).grants as { client_id: string }[];
    expect(before).toHaveLength(3);
    expect(new Set(before.map((grant) => grant.client_id))).toEqual(
      new Set([app.client.client_id, other.client.client_id]),
    );

    const { status, body } = await command(world.admin, `/members/${SAM_ID}/revoke`);
    expect([status, body]).toEqual([200, { id: SAM_ID, ended: 3 }]);
    expect(await doors(first)).toEqual([401, false]);
    expect(await statusOf(world.origin, second.access_token)).toBe(401);
    expect((await token(app, refreshForm(app, first.refresh_token))).body.error).toBe('invalid_grant');
    expect((await token(app, form)).body.error).toBe('invalid_grant');
    expect(await doors(olu)).toEqual([200, true]);
    expect((await command(world.admin, `/members/${SAM_ID}/revoke`)).body).toEqual({ id: SAM_ID, ended: 0 });

    // Revocation does not block the member: they may connect again.
    expect(await doors(await connect(app))).toEqual([200, true]);
    await command(world.admin, `/members/${SAM_ID}/revoke`);
  });

  it('end all grants of an app, and accept a URL as its ID', async () => {
    const other = await registerApp(world.origin);
    const [sams, olus, kept] = [await connect(other), await connect(other, { member: OLU }), await connect(app)];
    const path = `/clients/${encodeURIComponent(other.client.client_id)}`;
    expect((await command(world.admin, path, { method: 'GET' })).body).toMatchObject({
      id: other.client.client_id,
      more: false,
      grants: [{ client_id: other.client.client_id }, { client_id: other.client.client_id }],
    });
    expect((await command(world.admin, `${path}/revoke`)).body).toEqual({ id: other.client.client_id, ended: 2 });
    for (const { access_token } of [sams, olus]) expect(await statusOf(world.origin, access_token)).toBe(401);
    expect(await statusOf(world.origin, kept.access_token)).toBe(200);
    expect((await command(world.admin, '/clients/https%3A%2F%2Fapp.example%2Fa.json', { method: 'GET' })).body).toEqual(
      {
        id: 'https://app.example/a.json',
        known: false,
        grants: [],
        more: false,
      },
    );
  });

  it('return grants and state, but no secret', async () => {
    const tokens = await connect(app, { member: OLU });
    const { status, body, headers } = await command(world.admin, `/members/${OLU_ID}`, { method: 'GET' });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ id: OLU_ID, state: 'active', known: true, more: false });
    expect(body.grants).toContainEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      member: OLU_ID,
      client_id: app.client.client_id,
      scopes: ['openid', 'profile', 'email', 'account:read', 'courses:read'],
      resources: [world.origin],
      granted_at: expect.stringMatching(/^\d{4}-.*Z$/),
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const text = JSON.stringify(body);
    for (const secret of [tokens.access_token, tokens.refresh_token]) expect(text).not.toContain(secret);
    expect(await member('nobody')).toEqual({ id: 'nobody', state: 'active', known: false, grants: [], more: false });
  });

  it('keep a suspended member out everywhere until they are resumed, also over a restart', async () => {
    const tokens = await connect(app, { member: OLU });
    const { form } = await approved(app, { member: OLU });
    const consent = await reachConsent((await authorizationRequest(app)).url, OLU);
    const { status, body } = await command(world.admin, `/members/${OLU_ID}/suspend`, {
      body: '{"by":"operator","reason":"chargeback"}',
    });
    expect([status, body.state]).toEqual([200, 'suspended']);
    expect(Number(body.ended)).toBeGreaterThanOrEqual(2);
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    const since = body.suspended_at;

    const refused = async () => {
      for (const of of [refreshForm(app, tokens.refresh_token), form]) {
        expect((await token(app, of)).body.error).toBe('invalid_grant');
      }
      const { page } = await reachConsent((await authorizationRequest(app)).url, OLU);
      expect(page.status).toBe(403);
      expect(page.text).toContain('<main id="suspended"');
      expect(page.text).toContain('is suspended at');
      expect(offeredScopes(page)).toEqual([]);
      return page;
    };
    await refused();
    await world.restart();
    await refused();
    expect(await member(OLU_ID)).toMatchObject({ state: 'suspended', suspended_at: since, grants: [] });
    expect((await command(world.admin, `/members/${OLU_ID}/suspend`)).body).toMatchObject({ suspended_at: since });

    // The consent page was open before the suspension. Approving there is too late: the member sees the suspended page,
    // and the app gets access_denied.
    const late = await consent.browser.submit(consent.page, {
      decision: 'approve',
      scope: offeredScopes(consent.page),
    });
    expect([late.status, late.text.includes('<main id="suspended"')]).toEqual([403, true]);
    const back = await consent.browser.submit(late, { decision: 'deny' }, (to) => !to.startsWith(app.redirectUri));
    expect(new URL(String(back.location)).searchParams.get('error')).toBe('access_denied');
    expect(await member(OLU_ID)).toMatchObject({ grants: [] });
    // Other members are not affected.
    expect(await statusOf(world.origin, (await connect(app, { member: SAM })).access_token)).toBe(200);

    expect((await command(world.admin, `/members/${OLU_ID}/resume`)).body).toEqual({ id: OLU_ID, state: 'active' });
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    expect(await statusOf(world.origin, (await connect(app, { member: OLU })).access_token)).toBe(200);
  });

  it.each([
    ['a/b', 'a%2Fb'],
    ['a%2Fb', 'a%252Fb'],
    ['jörg+1@x?#', 'j%C3%B6rg%2B1%40x%3F%23'],
    ['a+b', 'a+b'],
    ['A', 'A'],
    ['a', 'a'],
  ])('apply to %s when called with /members/%s, and to no other member', async (id, encoded) => {
    expect(await member(encoded)).toMatchObject({ id, state: 'active' });
    await command(world.admin, `/members/${encoded}/suspend`);
    expect(await member(encoded)).toMatchObject({ id, state: 'suspended' });
    for (const other of ['a%2Fb', 'a%252Fb', 'j%C3%B6rg%2B1%40x%3F%23', 'a+b', 'a%20b', 'A', 'a', 'a%2fB']) {
      if (decodeURIComponent(other) !== id) expect(await member(other)).toMatchObject({ state: 'active' });
    }
    await command(world.admin, `/members/${encoded}/resume`);
    expect(await member(encoded)).toMatchObject({ id, state: 'active' });
  });

  it('end every token that is being issued while a revocation is processed', async () => {
    for (let round = 0; round < 4; round += 1) {
      const issued: Tokens[] = [];
      let acknowledged = false;
      const renew = async (tokens: Tokens): Promise<void> => {
        issued.push(tokens);
        const { status, body } = await token(app, refreshForm(app, tokens.refresh_token));
        if (status !== 200) {
          expect(body.error).toBe('invalid_grant');
          return;
        }
        if (!acknowledged) return renew(body);
        issued.push(body);
      };
      const tokens = await Promise.all(Array.from({ length: 4 }, () => connect(app)));
      const { form } = await approved(app);
      const under = [
        ...tokens.map((one) => renew(one as Tokens)),
        token(app, form).then(({ status, body }) => void (status === 200 && issued.push(body))),
      ];
      const { body } = await command(world.admin, `/members/${SAM_ID}/revoke`);
      acknowledged = true;
      expect(Number(body.ended)).toBeGreaterThanOrEqual(5);
      await Promise.all(under);
      for (const { access_token } of issued) expect(await statusOf(world.origin, access_token)).toBe(401);
      expect((await member(SAM_ID)).grants).toEqual([]);
    }
  });

  it.each([
    ['POST', '/members/m-1001', 405],
    ['GET', '/members/m-1001/revoke', 405],
    ['DELETE', '/members/m-1001', 405],
    ['POST', '/members/m-1001/delete', 404],
    ['POST', '/clients/x/suspend', 404],
    ['POST', '/members/%E0%A4%A/revoke', 400],
    ['POST', '/members/%00/revoke', 400],
  ])('return problem JSON for %s %s', async (method, path, status) => {
    const answer = await command(world.admin, path, { method });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    expect(answer.body).toMatchObject({ status, title: expect.any(String), request_id: expect.any(String) });
    if (status === 405) expect(answer.headers.get('allow')).toBe(method === 'GET' ? 'POST' : 'GET');
  });

  it.each(['[]', '"x"', '{', '{"by":"member"}', '{"reason":7}', '{"why":"x"}', `{"reason":"${'x'.repeat(201)}"}`])(
    'refuse the body %s',
    async (body) => {
      expect((await command(world.admin, `/members/${SAM_ID}/revoke`, { body })).status).toBe(400);
    },
  );

  it('accept at most 4 KiB', async () => {
    const body = JSON.stringify({ reason: 'x'.repeat(4096) });
    expect((await command(world.admin, `/members/${SAM_ID}/revoke`, { body })).status).toBe(413);
  });

  it('are available on the admin listener only, and not to pages in a browser', async () => {
    expect([404, 405]).toContain((await command(world.origin, `/members/${SAM_ID}/revoke`)).status);
    const path = `/members/${SAM_ID}`;
    const signature = commandSignature(path, { method: 'GET' });
    const headers = { 'coursegate-signature': signature, origin: 'https://evil.example' };
    expect((await send(world.admin, path, { method: 'GET' }, headers)).status).toBe(403);
  });

  it('leave a suspended member’s tokens useless, even if an approval was written during the suspension', async () => {
    const tokens = await connect(app, { member: OLU });
    const { form } = await approved(app, { member: OLU });
    // Simulates an approval that is written after the grants were ended: the member is suspended, and a grant is
    // active.
    await world.whileStopped(async () => {
      const config = { kind: 'sqlite', path: join(world.data, 'coursegate.db') } as const;
      const { store } = await openStore(config, { secret: undefined, redis: undefined }, Date.now);
      await storedSuspensions(store, Date.now).begin(OLU_ID);
      await store.close();
    });
    expect((await member(OLU_ID)).grants).not.toEqual([]);
    for (const of of [refreshForm(app, tokens.refresh_token), form]) {
      const { status, body } = await token(app, of);
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
      expect(body.error_description).toContain('the school lets this member connect no apps');
    }
    // Resuming the member does not restore it either.
    await command(world.admin, `/members/${OLU_ID}/resume`);
    expect((await member(OLU_ID)).grants).toEqual([]);
    for (const of of [refreshForm(app, tokens.refresh_token), form]) {
      expect((await token(app, of)).body.error).toBe('invalid_grant');
    }
  });

  it('stop a suspended member who already has a session at the gate', async () => {
    await command(world.admin, `/members/${SAM_ID}/suspend`);
    const browser = createBrowser();
    const url = (await authorizationRequest(app)).url;
    const { page } = await reachConsent(url, SAM, browser);
    expect(page.text).toContain('<main id="suspended"');
    expect((await browser.open(url)).text).toContain('<main id="suspended"');
    await command(world.admin, `/members/${SAM_ID}/resume`);
    expect((await browser.open(url)).text).toContain('<main id="consent"');
  });
});

describe.skipIf(!redisPresent())('commands to a gate with replicas on Redis', () => {
  it('take effect at every replica', async () => {
    const redis: RedisServer = await startRedis();
    const shared = {
      profile: 'A',
      environment: { ...ENVIRONMENT, REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
    };
    const overrides = {
      store: { kind: 'redis', url: { env: 'REDIS_URL' } },
      secret: { env: 'COURSEGATE_SECRET' },
      admin: ADMIN,
    };
    const world = await startWorld({ ...shared, overrides });
    const upstreams = Object.fromEntries(Object.entries(world.school.urls).map(([name, url]) => [name, { url }]));
    const replica = await startWorld({ ...shared, overrides: { ...overrides, origin: world.origin, upstreams } });
    try {
      const app = await registerApp(world.origin);
      for (const verb of ['revoke', 'suspend']) {
        const tokens = await connect(app);
        expect(await statusOf(replica.origin, tokens.access_token)).toBe(200);
        expect((await command(world.admin, `/members/${SAM_ID}/${verb}`)).body).toMatchObject({ ended: 1 });
        // The other replica is notified before the command responds, so this takes only a moment.
        await expect
          .poll(() => statusOf(replica.origin, tokens.access_token), { interval: 10, timeout: 4000 })
          .toBe(401);
        const { page } = await reachConsent((await authorizationRequest(app)).url);
        expect(page.text.includes('<main id="suspended"')).toBe(verb === 'suspend');
      }
      expect((await command(replica.admin, `/members/${SAM_ID}`, { method: 'GET' })).body.state).toBe('suspended');
    } finally {
      await replica.close();
      await world.close();
      await redis.close();
    }
  });
});
