import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { School } from '../../src/operator/demo/school.ts';
import { authorizationRequest, introspect, postForm, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { approved, read, refreshForm, token } from '../support/connection.ts';
import { reachConsent, SAM } from '../support/member.ts';
import { proofKey, proven, signProof } from '../support/proof.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { freePort } from '../support/world.ts';
import { type GateProcess, gateProcess, schoolOf } from './gate-process.ts';

const SECRET = 'the-key-material-of-this-gate-and-of-no-other';

/** Every credential, by its name. */
class Secrets {
  readonly #all = new Map<string, string>();

  add(name: string, value: unknown): void {
    if (typeof value !== 'string' || value.length < 8) throw new Error(`no secret: ${name} is ${String(value)}`);
    this.#all.set(value, name);
  }

  get size(): number {
    return this.#all.size;
  }

  /** The names of the secrets that a text contains: literally, encoded as in a URL or header, or half of one. */
  in(text: string): string[] {
    return [...this.#all]
      .filter(([value]) => {
        const half = value.slice(0, Math.ceil(value.length / 2));
        const forms = [value, encodeURIComponent(value), Buffer.from(value).toString('base64').replace(/=+$/, '')];
        return [...forms, ...(half.length >= 16 ? [half] : [])].some((form) => text.includes(form));
      })
      .map(([, name]) => name);
  }
}

/** Runs all steps of an app and a member, valid and invalid, and adds every secret that is issued or used to `secrets`. */
async function live(gate: GateProcess, secrets: Secrets): Promise<{ access: string; cookie: string }> {
  const { origin } = gate;
  secrets.add('password', `${SAM.password}-of-sam`);
  const app = await registerApp(origin, { confidential: true });
  secrets.add('client secret', app.client.client_secret);
  secrets.add('registration access token', app.client.registration_access_token);
  const managed = await fetch(String(app.client.registration_client_uri), {
    headers: { authorization: `Bearer ${app.client.registration_access_token}` },
  });
  expect(managed.status).toBe(200);
  const again = ((await managed.json()) as Record<string, unknown>).registration_access_token;
  if (again !== undefined) secrets.add('second registration access token', again);

  // Sign-in and consent, with every cookie and form token.
  const browser = createBrowser();
  const request = await authorizationRequest(app);
  secrets.add('verifier', request.verifier);
  const { page } = await reachConsent(request.url, SAM, browser);
  const keep = () => {
    for (const [name, { value }] of browser.cookies) secrets.add(`cookie ${name}`, value);
  };
  keep();
  secrets.add('form token', /name="csrf" value="([^"]+)"/.exec(page.text)?.[1]);
  const scope = ['openid', 'profile', 'email', 'account:read', 'courses:read'];
  const last = await browser.submit(page, { decision: 'approve', scope }, (to) => !to.startsWith(app.redirectUri));
  keep();
  const code = new URL(String(last.location)).searchParams.get('code') ?? '';
  secrets.add('code', code);
  const form = {
    grant_type: 'authorization_code',
    client_id: app.client.client_id,
    client_secret: String(app.client.client_secret),
    code,
    redirect_uri: app.redirectUri,
    code_verifier: request.verifier,
    resource: app.resource,
  };

  // First refused in various ways, then redeemed twice, and refreshed twice.
  const basic = Buffer.from(`${app.client.client_id}:${app.client.client_secret}`).toString('base64');
  secrets.add('basic', basic);
  await token(app, form, { authorization: `Basic ${basic}` });
  await token(app, { ...form, code_verifier: `${request.verifier}x` });
  await token(app, { ...form, client_secret: `${app.client.client_secret}x` });
  await token(app, { ...form, resource: `https://evil.example/${code}` });
  await fetch(`${origin}/api/oauth/token?${new URLSearchParams(form)}`, { method: 'POST' });
  await fetch(`${origin}/api/oauth/token`, { method: 'POST', body: JSON.stringify(form) });
  const { status, body: first } = await token(app, form);
  expect(status).toBe(200);
  expect((await token(app, form)).body.error).toBe('invalid_grant');
  const { body: second } = await token(app, refreshForm(app, first.refresh_token));
  await token(app, refreshForm(app, first.refresh_token));
  const { id_token } = first as unknown as Record<string, string>;
  secrets.add('id token', id_token);
  for (const [name, set] of Object.entries({ first, second })) {
    secrets.add(`${name} access token`, set.access_token);
    secrets.add(`${name} refresh token`, set.refresh_token);
  }
  const access = second.access_token;

  // A DPoP key, proofs, and a pushed request.
  const key = await proofKey();
  secrets.add('private key', key.privateJwk.d);
  const bound = await approved(app);
  secrets.add('second code', bound.form.code);
  const proof = await signProof(key, { htm: 'POST', htu: `${origin}/api/oauth/token` });
  secrets.add('proof', proof);
  const { body: dpop } = await token(app, bound.form, { dpop: proof });
  expect(dpop).toMatchObject({ token_type: 'DPoP' });
  secrets.add('bound access token', dpop.access_token);
  const shown = await proven(key, dpop.access_token, 'GET', `${origin}/api/v1/whoami`);
  secrets.add('shown proof', shown.dpop);
  expect((await fetch(`${origin}/api/v1/whoami`, { headers: shown })).status).toBe(200);
  expect((await fetch(`${origin}/api/v1/whoami`, { headers: shown })).status).toBe(401);
  const pushed = await read<Record<string, string>>(
    await postForm(String(app.server.pushed_authorization_request_endpoint), {
      ...Object.fromEntries(new URL((await authorizationRequest(app)).url).searchParams),
      client_secret: String(app.client.client_secret),
    }),
  );
  expect(pushed.status).toBe(201);
  secrets.add('request_uri', pushed.body.request_uri);

  // Sent in the wrong places: query, path, form, cookie, other headers, a GraphQL body, too large a head.
  const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
  for (const path of [
    '/api/oauth/userinfo',
    '/api/v1/courses',
    '/nothing',
    '/oauth/authorize',
    '/login',
    '/account/graphql',
  ]) {
    await fetch(`${origin}${path}?access_token=${access}&code=${code}&token=${access}`, { headers: { cookie } });
    await fetch(`${origin}${path}/${access}`, { headers: { authorization: `Bearer ${access}x`, cookie } });
    await fetch(origin + path, {
      headers: { authorization: access, referer: `${origin}/?code=${code}`, 'x-request-id': access },
    });
    await fetch(origin + path, {
      method: 'POST',
      body: new URLSearchParams({ access_token: access, password: 'student-of-sam' }),
    });
    await fetch(origin + path, {
      method: access
        .slice(0, 10)
        .toUpperCase()
        .replace(/[^A-Z]/g, 'X'),
    }).catch(() => undefined);
  }
  const graphql = { authorization: `Bearer ${access}`, 'content-type': 'application/json' };
  for (const query of [`{ ${access} }`, '{ viewer { id } }', `{ viewer(token: "${access}") { id } }`]) {
    await fetch(`${origin}/account/graphql`, { method: 'POST', headers: graphql, body: JSON.stringify({ query }) });
  }
  await fetch(`${origin}/${access.repeat(400)}`).catch(() => undefined);
  await fetch(`${origin}/`, { headers: { 'x-long': access.repeat(800) } }).catch(() => undefined);
  await postForm(`${origin}/api/oauth/introspect`, { token: access, client_id: 'nobody', client_secret: access });
  await introspect(app, access);

  // Finally, reuse of an old refresh token, and a revocation.
  const third = await token(app, refreshForm(app, second.refresh_token));
  secrets.add('third access token', third.body.access_token);
  secrets.add('third refresh token', third.body.refresh_token);
  expect((await token(app, refreshForm(app, first.refresh_token))).status).toBe(400);
  await revoke(app, dpop.access_token);

  const alive = await approved(app);
  const { body: living } = await token(app, alive.form);
  secrets.add('living access token', living.access_token);
  secrets.add('living refresh token', living.refresh_token);
  return { access: living.access_token, cookie };
}

/** The access log is buffered, and is complete once the gate has stopped. */
async function allWritten(gate: GateProcess): Promise<string> {
  gate.signal('SIGTERM');
  expect(await gate.exited()).toBe(0);
  return gate.output();
}

/** Every string in a dump that could be an id: from the 16 bytes of a hash to a refresh token. */
const idsIn = (dump: string) => [...new Set(dump.match(/(?<![\w-])[\w-]{22,76}(?![\w-])/g) ?? [])];

/** The id of every entry in a SQLite store. In the bytes of its file, an id has no separators around it. */
function idsOf(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare('SELECT id FROM entry')
      .all()
      .map(({ id }) => String(id));
  } finally {
    database.close();
  }
}

/** The strings of `ids` that are accepted as a token or code. */
async function opens(gate: GateProcess, ids: readonly string[]): Promise<string[]> {
  expect(ids.length).toBeGreaterThan(10);
  const opened: string[] = [];
  for (const id of ids.slice(0, 150)) {
    const as = await Promise.all([
      fetch(`${gate.origin}/api/v1/whoami`, { headers: { authorization: `Bearer ${id}` } }),
      fetch(`${gate.origin}/`, { headers: { cookie: `_session=${id}; _interaction=${id}` } }),
    ]);
    if (as[0].status !== 401) opened.push(`${id} as a token: ${as[0].status}`);
    await Promise.all(as.map((answer) => answer.arrayBuffer()));
  }
  return opened;
}

const serve = async (school: School, origin: string, environment: Record<string, string>) => {
  const gate = await gateProcess({
    origin,
    school,
    environment: {
      PORT: new URL(origin).port,
      COURSEGATE__LOG__LEVEL: 'debug',
      COURSEGATE__LOG__ACCESS: 'true',
      COURSEGATE__LISTEN__DRAIN: '{ notice: 0s, grace: 2s }',
      COURSEGATE__SECRET: '{ env: TEST_SECRET }',
      TEST_SECRET: SECRET,
      ...environment,
    },
  });
  await gate.start();
  return gate;
};

describe('the output and the stored data of a whole life cycle', () => {
  const secretsOf = () => {
    const secrets = new Secrets();
    secrets.add('key material', SECRET);
    return secrets;
  };

  /** Stops the login backend and the upstreams: the resulting log lines must contain no credential. */
  const withoutSchool = async (
    gate: GateProcess,
    school: School,
    { access, cookie }: { access: string; cookie: string },
  ) => {
    await school.close();
    const headers = { authorization: `Bearer ${access}`, cookie };
    const answer = await fetch(`${gate.origin}/api/v1/courses?access_token=${access}`, { headers });
    expect(answer.status).toBe(502);
    await fetch(`${gate.origin}/a-page?token=${access}`, { headers });
  };

  it('contain no secret and nothing that grants access, on SQLite', async () => {
    const origin = `http://localhost:${await freePort()}`;
    const school = await schoolOf(origin);
    const gate = await serve(school, origin, {});
    try {
      const secrets = secretsOf();
      const living = await live(gate, secrets);
      const files = readdirSync(gate.data);
      expect(files).toContain('coursegate.db-wal');
      const dump = files.map((name) => readFileSync(join(gate.data, name), 'latin1')).join('\n');
      expect(secrets.in(dump)).toEqual([]);
      for (const personal of ['student@example.com', '"kty"']) expect(dump).not.toContain(personal);
      expect(await opens(gate, [...idsIn(dump), ...idsOf(join(gate.data, 'coursegate.db'))])).toEqual([]);
      await withoutSchool(gate, school, living);
      const output = await allWritten(gate);
      expect(output).toContain('upstream_unreachable');
      expect(output.split('\n').length).toBeGreaterThan(80);
      expect(secrets.size).toBeGreaterThan(25);
      expect(secrets.in(output)).toEqual([]);
    } finally {
      await gate.close();
      await school.close();
    }
  });

  it.skipIf(!redisPresent())(
    'contain no secret and nothing that grants access, on Redis, also when Redis is down',
    async () => {
      const origin = `http://localhost:${await freePort()}`;
      const school = await schoolOf(origin);
      const redis: RedisServer = await startRedis({ appendOnly: true });
      const gate = await serve(school, origin, {
        COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
        REDIS_URL: redis.url,
      });
      try {
        const secrets = secretsOf();
        const living = await live(gate, secrets);
        const dump = await dumpOf(redis);
        expect(secrets.in(dump)).toEqual([]);
        for (const personal of ['student@example.com', '"kty"']) expect(dump).not.toContain(personal);
        expect(await opens(gate, idsIn(dump))).toEqual([]);
        await redis.kill();
        const form = { grant_type: 'refresh_token', refresh_token: living.access, client_id: living.access };
        expect((await postForm(`${origin}/api/oauth/token`, form)).status).toBe(503);
        const headers = { authorization: `Bearer ${living.access}x`, cookie: living.cookie };
        expect((await fetch(`${origin}/api/v1/courses`, { headers })).status).toBe(503);
        const output = await allWritten(gate);
        expect(output).toContain('store_unavailable');
        expect(output.split('\n').length).toBeGreaterThan(80);
        expect(secrets.in(output)).toEqual([]);
      } finally {
        await gate.close();
        await redis.close();
        await school.close();
      }
    },
  );
});

/** Every key of a Redis with its content. */
async function dumpOf(redis: RedisServer): Promise<string> {
  const client = new Redis(redis.socket);
  try {
    const lines: string[] = [];
    for (const key of await client.keys('*')) {
      const type = await client.type(key);
      const held =
        type === 'hash'
          ? await client.hgetall(key)
          : type === 'zset'
            ? await client.zrange(key, '0', '-1')
            : type === 'set'
              ? await client.smembers(key)
              : await client.get(key);
      lines.push(`${key} ${JSON.stringify(held)}`);
    }
    return lines.join('\n');
  } finally {
    client.disconnect();
  }
}
