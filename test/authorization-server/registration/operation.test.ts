import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/operations/log.ts';
import { registerApp } from '../../support/app.ts';
import { connect, refreshForm, statusOf, token } from '../../support/connection.ts';
import { startWorld, type World } from '../../support/world.ts';
import { CALLBACK, call, mayRedirect, register } from './support.ts';

const HOUR = 3600_000;
const INITIAL = 'an-initial-access-token-of-the-school';

async function advertised(world: World): Promise<unknown[]> {
  const documents = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
  return Promise.all(documents.map(async (path) => (await call(world, 'GET', path)).body.registration_endpoint));
}

describe('registration', () => {
  const time = { offset: 0 };
  let world: World;
  beforeAll(async () => {
    const overrides = { clients: { registration: { perAddressPerMinute: 20 } } };
    world = await startWorld({ profile: 'A', clock: () => Date.now() + time.offset, overrides });
  });
  afterAll(() => world.close());

  it('accepts a limited number from one address a minute, then returns 429', async () => {
    const from = (address: string): Promise<{ status: number; retryAfter: string | undefined; text: string }> =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify({ redirect_uris: [CALLBACK] });
        const options = { method: 'POST', localAddress: address, headers: { 'content-type': 'application/json' } };
        const url = `${world.origin.replace('localhost', '127.0.0.1')}/api/oauth/register`;
        const sent = request(url, options, async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'], text });
        });
        sent.on('error', reject);
        sent.end(body);
      });
    const answers = [];
    for (let count = 0; count < 100; count += 1) answers.push(await from('127.0.0.2'));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.slice(0, 20).map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(refused.length).toBeGreaterThanOrEqual(75);
    expect(answers.length - refused.length).toBe(answers.filter(({ status }) => status === 201).length);
    for (const { retryAfter, text } of refused) {
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
      expect(Number(retryAfter)).toBeLessThanOrEqual(60);
      expect(JSON.parse(text)).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
    }
    expect((await from('127.0.0.3')).status).toBe(201);
    time.offset += 60_000;
    expect((await from('127.0.0.2')).status).toBe(201);
  });

  it('deletes an app that was not connected within a day, with its token, and keeps one that was', async () => {
    const unused = await register(world, { client_name: 'Unused' });
    const app = await registerApp(world.origin);
    const tokens = await connect(app);
    const show = (body: Record<string, unknown>) =>
      call(world, 'GET', new URL(String(body.registration_client_uri)).pathname, {
        token: String(body.registration_access_token),
      });
    expect((await show(unused.body)).status).toBe(200);
    expect(await mayRedirect(world, unused.body.client_id, CALLBACK)).toBe(true);
    time.offset += 24 * HOUR + 1000;
    expect((await show(unused.body)).status).toBe(401);
    expect(await mayRedirect(world, unused.body.client_id, CALLBACK)).toBe(false);
    expect((await show(app.client as Record<string, unknown>)).status).toBe(200);
    expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(200);
  });

  it('stores secrets and tokens encrypted', async () => {
    const { body } = await register(world, { token_endpoint_auth_method: 'client_secret_post', client_name: 'Sealed' });
    const files = readdirSync(world.data).map((file) => readFileSync(join(world.data, file)));
    expect(files.length).toBeGreaterThan(0);
    for (const secret of [body.client_secret, body.registration_access_token, body.client_id, 'Sealed']) {
      expect(files.some((bytes) => bytes.includes(String(secret)))).toBe(false);
    }
  });

  it('logs no secret and no token', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-log-'));
    const file = join(folder, 'log');
    const descriptor = openSync(file, 'a');
    const logged = await startWorld({
      profile: 'A',
      log: createLog('debug', descriptor),
      accessDescriptor: descriptor,
      overrides: { log: { access: true } },
    });
    try {
      const metadata = { token_endpoint_auth_method: 'client_secret_post' };
      const { body } = await register(logged, metadata);
      const path = new URL(String(body.registration_client_uri)).pathname;
      const own = { token: String(body.registration_access_token) };
      const update = { client_id: body.client_id, redirect_uris: [CALLBACK] };
      const { body: updated } = await call(logged, 'PUT', path, { ...own, body: update });
      await call(logged, 'PUT', path, { ...own, raw: '{' });
      await call(logged, 'DELETE', path, { token: String(updated.registration_access_token) });
      // The access log is complete only after the gate has stopped.
      const log = await logged.whileStopped(async () => readFileSync(file, 'utf8'));
      expect(log.split('\n').length).toBeGreaterThanOrEqual(4);
      for (const secret of [body.client_secret, body.registration_access_token, updated.registration_access_token]) {
        expect(secret).toMatch(/^[\w-]{20,}$/);
        expect(log).not.toContain(secret);
      }
    } finally {
      await logged.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('disabled registration', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', overrides: { clients: { registration: { enabled: false } } } });
  });
  afterAll(() => world.close());

  it('returns 404, is not advertised, and forwards nothing to the site', async () => {
    expect(await advertised(world)).toEqual([undefined, undefined]);
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      for (const path of ['/api/oauth/register', '/api/oauth/register/x']) {
        const { status, headers, body } = await call(world, method, path, {
          token: 'x',
          body: { redirect_uris: [CALLBACK] },
        });
        expect(status).toBe(404);
        expect(headers['content-type']).toBe('application/json');
        expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
      }
    }
  });
});

describe('registration with an initial access token', () => {
  let world: World;
  beforeAll(async () => {
    const registration = {
      initialAccessToken: { file: new URL('initial-access-token.txt', import.meta.url).pathname },
    };
    world = await startWorld({ profile: 'A', overrides: { clients: { registration } } });
  });
  afterAll(() => world.close());

  const attempt = (token?: string) =>
    call(world, 'POST', '/api/oauth/register', {
      body: { redirect_uris: [CALLBACK] },
      ...(token === undefined ? {} : { token }),
    });

  it('accepts apps that send it', async () => {
    expect(await advertised(world)).toEqual(Array(2).fill(`${world.origin}/api/oauth/register`));
    expect((await attempt(INITIAL)).status).toBe(201);
    expect((await attempt(INITIAL)).status).toBe(201);
  });

  it.each([undefined, 'wrong', `${INITIAL}x`, INITIAL.slice(1), INITIAL.toUpperCase()])(
    'refuses apps that send %s',
    async (token) => {
      const { status, headers, body } = await attempt(token);
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe(`Bearer realm="${world.origin}", error="invalid_token"`);
      expect(headers['cache-control']).toBe('no-store');
      expect(body).toEqual({ error: 'invalid_token', error_description: expect.any(String) });
    },
  );

  it('accepts neither token in place of the other', async () => {
    const { body } = await attempt(INITIAL);
    expect((await attempt(String(body.registration_access_token))).status).toBe(401);
    const own = new URL(String(body.registration_client_uri)).pathname;
    expect((await call(world, 'GET', own, { token: INITIAL })).status).toBe(401);
  });
});

describe('a host that the operator denies', () => {
  it('ends the access of apps that were registered with it', async () => {
    const world = await startWorld({ profile: 'A' });
    const app = await registerApp(world.origin);
    const other = await registerApp(world.origin, { redirectUri: 'https://other.example/callback' });
    const [tokens, others] = [await connect(app), await connect(other)];
    expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
    await world.restart({ clients: { redirects: { deny: ['app.example'] } } });
    try {
      expect(await mayRedirect(world, app.client.client_id, CALLBACK)).toBe(false);
      expect(await mayRedirect(world, other.client.client_id, 'https://other.example/callback')).toBe(true);
      expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
      const refreshed = await call(world, 'POST', '/api/oauth/token', {
        type: 'application/x-www-form-urlencoded',
        raw: new URLSearchParams(refreshForm(app, tokens.refresh_token) as Record<string, string>).toString(),
      });
      expect(refreshed).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
      expect(others.access_token).toBeDefined();
    } finally {
      await world.close();
    }
  });
});
