import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, redeem, refresh, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command, send } from '../support/commands.ts';
import { connect, refreshForm, statusOf, token } from '../support/connection.ts';
import { approve, OLU } from '../support/member.ts';
import { operate, runToEnd } from '../support/operator.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const ADMIN = { hmac: { secret: { env: 'COMMAND_SECRET' } } };
const folder = mkdtempSync(join(tmpdir(), 'coursegate-operator-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Listed {
  readonly id: string;
  readonly name?: string;
  readonly state: string;
  readonly connections: number;
}

const STORES = [{ store: 'sqlite' }, ...(redisPresent() ? [{ store: 'redis' }] : [])] as const;

describe.each(STORES)('an operator, with a store in $store', ({ store }) => {
  let redis: RedisServer | undefined;
  let world: World;
  let app: App;
  let other: App;
  beforeAll(async () => {
    redis = store === 'redis' ? await startRedis() : undefined;
    world = await startWorld({
      profile: 'A',
      environment: {
        COMMAND_SECRET,
        REDIS_URL: redis?.url ?? '',
        SEALING: 'a secret of at least thirty-two bytes, for tests',
      },
      overrides: {
        admin: ADMIN,
        ...(redis === undefined
          ? {}
          : { store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'SEALING' } }),
      },
    });
    app = await registerApp(world.origin);
    other = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await redis?.close();
  });

  const get = async (path: string) => (await command(world.admin, path, { method: 'GET' })).body;
  const kids = async (of?: string) => {
    const { keys } = (await (await fetch(`${world.origin}/.well-known/jwks.json`)).json()) as JSONWebKeySet;
    return keys.filter(({ alg }) => of === undefined || alg === of).map(({ kid }) => String(kid));
  };

  it('cannot run a command without a signature, whether it reads or writes', async () => {
    for (const [method, path] of [
      ['GET', '/clients'],
      ['GET', '/members'],
      ['GET', '/grants?member=m-1001'],
      ['POST', '/grants/x/revoke'],
      ['POST', '/clients/x/delete'],
      ['POST', '/clients/x/disable'],
      ['GET', '/keys'],
      ['POST', '/keys/rotate'],
      ['POST', '/keys/import'],
      ['POST', '/keys/x/remove'],
    ] as const) {
      expect([path, (await send(world.admin, path, { method })).status]).toEqual([path, 401]);
    }
    // A signature counts for the query it was made with.
    const moved = await command(world.admin, '/grants?member=m-1002', {
      method: 'GET',
      signedPath: '/grants?member=m-1001',
    });
    expect(moved.status).toBe(401);
  });

  it('can list apps and members page by page, and search for them', async () => {
    await connect(app);
    await connect(app, { member: OLU });
    const more = await Promise.all(Array.from({ length: 4 }, () => registerApp(world.origin)));
    const seen: string[] = [];
    for (let cursor: unknown; ; ) {
      const page = await get(`/clients?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`);
      const clients = page.clients as Listed[];
      expect(clients.length).toBeLessThanOrEqual(2);
      seen.push(...clients.map(({ id }) => id));
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(seen.toSorted()).toEqual([app, other, ...more].map(({ client }) => client.client_id).toSorted());

    const first = await get('/members?limit=1');
    const second = await get(`/members?limit=1&cursor=${first.next}`);
    const ids = [first, second].flatMap((page) => (page.members as Listed[]).map(({ id }) => id));
    expect([ids.toSorted(), second.next]).toEqual([['m-1001', 'm-1002'], undefined]);

    const { clients } = await get(`/clients?name=${app.client.client_id}`);
    expect(clients).toEqual([
      expect.objectContaining({
        id: app.client.client_id,
        kind: 'registered',
        state: 'enabled',
        connections: 2,
        members: 2,
        redirect_hosts: [expect.any(String)],
      }),
    ]);
    expect((await get('/clients?host=elsewhere.example')).clients).toEqual([]);
    expect((await get('/clients?kind=document')).clients).toEqual([]);
    expect((await get('/members?q=STUDENT@')).members).toEqual([
      expect.objectContaining({ id: 'm-1001', email: 'student@example.com', state: 'active', connections: 1 }),
    ]);
    for (const query of [
      'limit=0',
      'limit=1000',
      'limit=x',
      'cursor=xyz',
      'kind=other',
      'nonsense=1',
      'name=a&name=b',
    ]) {
      expect([query, (await command(world.admin, `/clients?${query}`, { method: 'GET' })).status]).toEqual([
        query,
        400,
      ]);
    }
    expect((await command(world.admin, '/grants', { method: 'GET' })).status).toBe(400);
  });

  it('can show grants, and end one without affecting another', async () => {
    const [ended, kept] = [await connect(other), await connect(other)];
    const grants = (await get(`/grants?client=${other.client.client_id}`)).grants as { id: string; member: string }[];
    expect(grants).toHaveLength(2);
    const mine = (await get('/grants?member=m-1001')).grants as { id: string }[];
    expect(mine.map(({ id }) => id)).toEqual(expect.arrayContaining(grants.map(({ id }) => id)));
    const [first] = grants;
    const told = await command(world.admin, `/grants/${first?.id}/revoke`);
    expect([told.status, told.body]).toMatchObject([200, { id: first?.id, member: 'm-1001', ended: 1 }]);
    const statuses = await Promise.all([ended, kept].map(({ access_token }) => statusOf(world.origin, access_token)));
    expect(statuses.toSorted()).toEqual([200, 401]);
    expect((await command(world.admin, `/grants/${first?.id}/revoke`)).status).toBe(404);
  });

  it('can disable an app until it is enabled again', async () => {
    const shut = await registerApp(world.origin);
    const tokens = await connect(shut);
    const path = `/clients/${shut.client.client_id}`;
    expect((await command(world.admin, `${path}/disable`)).body).toMatchObject({ state: 'disabled', ended: 1 });
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    expect((await token(shut, refreshForm(shut, tokens.refresh_token))).body.error).toBe('invalid_client');
    expect((await fetch((await authorizationRequest(shut)).url, { redirect: 'manual' })).status).toBe(400);
    expect(await get(path)).toMatchObject({ state: 'disabled', grants: [] });
    expect((await command(world.admin, `${path}/enable`)).body).toMatchObject({ state: 'enabled' });
    expect(await statusOf(world.origin, (await connect(shut)).access_token)).toBe(200);
  });

  it('can delete an app with everything that belongs to it', async () => {
    const gone = await registerApp(world.origin);
    const tokens = await connect(gone);
    expect(await get('/members/m-1001')).toMatchObject({ known: true });
    expect(await get('/members/m-typo')).toMatchObject({ known: false });
    const path = `/clients/${gone.client.client_id}`;
    expect((await command(world.admin, `${path}/delete`)).body).toEqual({ id: gone.client.client_id, ended: 1 });
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    expect(await get(path)).toEqual({ id: gone.client.client_id, known: false, grants: [], more: false });
    for (const verb of ['delete', 'disable']) expect((await command(world.admin, `${path}/${verb}`)).status).toBe(404);
  });

  it('can rotate to a key that verifiers already have, or force a rotation', async () => {
    const before = await kids();
    const [signing, next, rsaSigning, rsaNext] = before;
    const refused = await command(world.admin, '/keys/rotate');
    expect(refused.status).toBe(409);
    expect(refused.body.title).toMatch(/Wait 60 minutes/);
    expect(await kids()).toEqual(before);
    const { status, body } = await command(world.admin, '/keys/rotate', { body: '{"now":true,"by":"operator"}' });
    expect(status).toBe(200);
    expect((body.keys as { kid: string; state: string }[]).map(({ kid, state }) => [kid, state])).toEqual([
      [next, 'signing'],
      [expect.any(String), 'next'],
      [signing, 'verifying'],
      [rsaNext, 'signing'],
      [expect.any(String), 'next'],
      [rsaSigning, 'verifying'],
    ]);
    expect(JSON.stringify(body)).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
    expect(await kids()).toEqual((body.keys as { kid: string }[]).map(({ kid }) => kid));
  });

  it('can import a key, which signs after the next rotation, while an unsuitable one is refused', async () => {
    const signing = async (alg: string) => {
      const asking = await registerApp(world.origin, { metadata: { id_token_signed_response_alg: alg } });
      return decodeProtectedHeader(String((await connect(asking)).id_token)).kid;
    };
    const pem = (curve: string) =>
      generateKeyPairSync('ec', { namedCurve: curve }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const take = (key: unknown) =>
      command(world.admin, '/keys/import', { body: JSON.stringify({ key, by: 'operator' }) });
    const good = pem('P-256');
    const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    const rsa = (bits: number, type: 'rsa' | 'rsa-pss' = 'rsa') =>
      generateKeyPairSync(type as 'rsa', { modulusLength: bits }).privateKey;
    const goodRsa = rsa(3072).export({ type: 'pkcs8', format: 'pem' });
    const rsaJwk = rsa(2048).export({ format: 'jwk' });
    const { d: _d, ...publicJwk } = jwk;
    for (const [bad, says] of [
      ['nonsense', /not a PEM private key/],
      [pem('P-384'), /P-256/],
      [rsa(1024).export({ type: 'pkcs8', format: 'pem' }), /2048 to 4096 bits/],
      [rsa(2048, 'rsa-pss').export({ type: 'pkcs8', format: 'pem' }), /2048 to 4096 bits/],
      [{ ...rsaJwk, n: rsa(2048).export({ format: 'jwk' }).n }, /public and private parts|not a valid JWK/],
      [{ ...rsaJwk, alg: 'ES256' }, /another algorithm/],
      [{ ...rsaJwk, alg: 'PS256' }, /another algorithm/],
      [{ kty: 'RSA', n: rsaJwk.n, e: rsaJwk.e }, /no private part/],
      [publicJwk, /no private part/],
      [{ ...jwk, x: stranger.x, y: stranger.y }, /public and private parts|not a valid JWK/],
      [{ ...jwk, use: 'enc' }, /not for signing/],
      [{ ...jwk, alg: 'ES384' }, /another algorithm/],
      [{ keys: [jwk, stranger] }, /one key/],
      [7, /no private part/],
    ] as const) {
      const { status, body } = await take(bad);
      expect([status, body.title]).toEqual([400, expect.stringMatching(says)]);
    }
    for (const [alg, key] of [
      ['ES256', good],
      ['RS256', goodRsa],
    ] as const) {
      const before = await kids();
      expect((await take(key)).status).toBe(200);
      const [, imported] = await kids(alg);
      expect(before).not.toContain(imported);
      expect((await take(key)).status).toBe(409);
      expect((await command(world.admin, '/keys/rotate', { body: '{"now":true}' })).status).toBe(200);
      expect(await signing(alg)).toBe(imported);
    }
    expect((await take({ keys: [jwk] })).status).toBe(200);
  });

  it.each(['ES256', 'RS256'])('can remove a key of %s at once, and its signatures are no longer valid', async (alg) => {
    // Also the key of the assertion, if it is ES256.
    const signed = await registerApp(world.origin, { metadata: { id_token_signed_response_alg: alg } });
    const old = await connect(signed);
    const kid = String(decodeProtectedHeader(String(old.id_token)).kid);
    const url = new URL(`${world.origin}/.well-known/jwks.json`);
    await jwtVerify(String(old.id_token), createRemoteJWKSet(url), { issuer: world.origin });
    // The school looks for new keys once a second at most; then it believes an assertion of that key, and the gate keeps it.
    const believed = () => expect.poll(() => statusOf(world.origin, old.access_token), { timeout: 15_000 }).toBe(200);
    await believed();

    expect((await command(world.admin, `/keys/${kid}/remove`)).status).toBe(200);
    expect(await kids()).not.toContain(kid);
    const published = await fetch(url);
    // A replica hears of it within ten seconds, and what it said before that is kept so long: a minute in all.
    expect(published.headers.get('cache-control')).toBe('public, max-age=45');
    const keys = createLocalJWKSet((await published.json()) as JSONWebKeySet);
    await expect(jwtVerify(String(old.id_token), keys)).rejects.toThrow(/no applicable key/);
    // What is not signed by it goes on, and the next answers are signed by another.
    await believed();
    const renewed = await refresh(signed, String(old.refresh_token));
    expect(decodeProtectedHeader(String(renewed.id_token)).kid).not.toBe(kid);
    await jwtVerify(String(renewed.id_token), keys);
    expect((await command(world.admin, `/keys/${kid}/remove`)).status).toBe(404);
  });

  it('shows and enables an app that no member has connected', async () => {
    const unused = String((await registerApp(world.origin)).client.client_id);
    const { code, stdout } = await operate(world, 'clients', 'show', unused);
    expect([code, stdout]).toEqual([0, expect.stringContaining(unused)]);
    expect((await operate(world, 'clients', 'enable', unused)).stdout).toBe(`enabled ${unused}\n`);
  });

  it('can do the same on the command line, with text and JSON output', async () => {
    const mine = await registerApp(world.origin);
    const tokens = await connect(mine);
    const id = String(mine.client.client_id);
    const listed = await operate(world, 'clients', 'list', '--name', id);
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toMatch(/^CLIENT +NAME +KIND +STATE +HOSTS +CONNECTIONS +LAST USED\n/);
    expect(listed.stdout).toContain(id);
    const json = await operate(world, 'clients', 'list', '--name', id, '--json');
    expect(JSON.parse(json.stdout)).toEqual([expect.objectContaining({ id, connections: 1 })]);
    const shown = await operate(world, 'clients', 'show', id);
    expect(shown.stdout).toMatch(/state +enabled\n[\s\S]*GRANT +MEMBER +CLIENT[\s\S]*m-1001/);
    expect((await operate(world, 'clients', 'show', 'nobody')).code).toBe(2);

    const { grants } = JSON.parse((await operate(world, 'clients', 'show', id, '--json')).stdout);
    expect(grants).toEqual([expect.objectContaining({ client_id: id, member: 'm-1001' })]);
    const ended = await operate(world, 'grants', 'revoke', String(grants[0].id), '--reason', 'asked for');
    expect([ended.code, ended.stdout]).toEqual([0, '1 grants ended\n']);
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    expect((await operate(world, 'grants', 'revoke')).code).toBe(64);

    const members = await operate(world, 'members', 'list', '--q', 'm-1001', '--json');
    expect(JSON.parse(members.stdout)).toEqual([expect.objectContaining({ id: 'm-1001', state: 'active' })]);
    expect((await operate(world, 'members', 'list', '--q', 'nobody', '--json')).stdout).toBe('[]\n');
    const suspended = await operate(world, 'members', 'suspend', 'm-1001', 'm-1002', '--yes');
    expect(suspended.stdout).toMatch(/^suspended m-1001: \d+ connections ended\nsuspended m-1002: /);
    expect((await operate(world, 'members', 'show', 'm-1001')).stdout).toMatch(/state +suspended/);
    expect((await operate(world, 'members', 'resume', 'm-1001', 'm-1002')).code).toBe(0);

    const before = await kids();
    const keys = await operate(world, 'keys', 'list');
    expect(keys.stdout).toMatch(/^KEY +ALG +STATE +SINCE +UNTIL\n/);
    for (const kid of before) expect(keys.stdout).toContain(kid);
    const early = await operate(world, 'keys', 'rotate');
    expect(early.code).toBe(1);
    expect(early.stderr).toMatch(/less than an hour ago[\s\S]*\nTry: npx coursegate keys rotate --help\n$/);
    expect((await operate(world, 'keys', 'rotate', '--now')).code).toBe(0);
    expect((await kids())[0]).toBe(before[1]);
    expect((await operate(world, 'keys', 'remove', String(before[0]))).stdout).not.toContain(before[0]);
    const pem = join(folder, `${store}.pem`);
    for (const key of [
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }),
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
    ]) {
      writeFileSync(pem, key);
      expect((await operate(world, 'keys', 'import', pem)).code).toBe(0);
    }

    const deleted = await operate(world, 'clients', 'delete', id, '--json');
    expect(JSON.parse(deleted.stdout)).toEqual({ id, ended: 0 });
  });

  it('is refused without the configured secret, and learns what to check', async () => {
    const { code, stdout, stderr } = await runToEnd(['keys', 'rotate', '--now', '--admin', world.admin]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/refused this command[\s\S]*\nTry: npx coursegate keys rotate --help\n$/);
  });
});

it('a code is redeemed even if the keys were replaced after the approval', async () => {
  const world = await startWorld({ profile: 'A', environment: { COMMAND_SECRET }, overrides: { admin: ADMIN } });
  try {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app);
    const { keys } = (await command(world.admin, '/keys', { method: 'GET' })).body as { keys: { kid: string }[] };
    const returned = await approve(request.url, app.redirectUri);
    for (const { kid } of keys) await command(world.admin, `/keys/${kid}/remove`);
    expect((await redeem(app, request, returned)).access_token).toBeTruthy();
  } finally {
    await world.close();
  }
});
