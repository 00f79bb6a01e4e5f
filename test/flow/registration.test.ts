import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCOPES } from '../support/catalogue.ts';
import { read } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

const CALLBACK = 'https://app.example/callback';

describe('registration', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  const send = async (body: string, type: string | null = 'application/json') =>
    read(
      await fetch(`${world.origin}/api/oauth/register`, {
        method: 'POST',
        body: new TextEncoder().encode(body),
        headers: type === null ? {} : { 'content-type': type },
      }),
    );
  const register = (metadata: Record<string, unknown>) =>
    send(JSON.stringify({ redirect_uris: [CALLBACK], ...metadata }));

  const expectError = (answer: Awaited<ReturnType<typeof send>>, status: number, error: string) => {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({ error, error_description: expect.stringMatching(/^.{5,}$/) });
  };

  it('registers a public app that sends only a redirect URI', async () => {
    const { status, headers, body } = await register({});
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({
      client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      client_id_issued_at: expect.any(Number),
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: SCOPES.join(' '),
      registration_access_token: expect.stringMatching(/^[\w-]{20,}$/),
      registration_client_uri: `${world.origin}/api/oauth/register/${body.client_id}`,
    });
    expect(body).not.toHaveProperty('client_secret');
  });

  it('issues a secret to a confidential app', async () => {
    const { status, body } = await register({ token_endpoint_auth_method: 'client_secret_post' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'client_secret_post',
      client_secret: expect.stringMatching(/^[\w-]{40,}$/),
      client_secret_expires_at: 0,
    });
  });

  it('generates the id of every app', async () => {
    const chosen = { client_id: 'mine', client_secret: 'mine', registration_access_token: 'mine' };
    const [one, two] = [await register(chosen), await register(chosen)];
    expect(one.body.client_id).not.toBe(two.body.client_id);
    expect(JSON.stringify([one.body, two.body])).not.toContain('"mine"');
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['null members', { client_name: null, logo_uri: null, scope: null, token_endpoint_auth_method: null }, {}],
    ['empty members', { client_uri: '', tos_uri: '', contacts: null }, {}],
    ['unknown members', { x_vendor: { a: 1 } }, {}],
    ['unsupported grants', { grant_types: ['authorization_code', 'implicit', 'refresh_token'] }, {}],
    ['unsupported response types', { response_types: ['code', 'token'] }, {}],
    ['an unknown scope', { scope: 'openid everything' }, {}],
    ['the type web, whose rules are laxer', { application_type: 'web' }, { application_type: 'native' }],
    ['a charset', { client_name: 'Zoë ☃' }, { client_name: 'Zoë ☃' }],
    ['one grant', { grant_types: ['authorization_code'] }, { grant_types: ['authorization_code'] }],
  ])('accepts %s', async (_name, metadata, expected) => {
    const { status, body } = await register(metadata);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...expected,
    });
    expect(Object.values(body)).not.toContain(null);
  });

  it.each([
    'http://127.0.0.1/callback',
    'http://127.0.0.1:5123/callback',
    'http://localhost:5123/callback',
    'http://[::1]/callback',
    'com.example.app:/callback',
    'https://app.example:8443/callback?tenant=1',
  ])('accepts the redirect URI %s', async (uri) => {
    expect(await register({ redirect_uris: [uri] })).toMatchObject({ status: 201, body: { redirect_uris: [uri] } });
  });

  it.each<[string, unknown]>([
    ['http', ['http://app.example/callback']],
    ['http on a lookalike of loopback', ['http://127.0.0.1.evil.test/callback']],
    ['a script', ['javascript:alert(1)']],
    ['a script in another case', ['JavaScript:alert(1)']],
    ['data', ['data:text/html,x']],
    ['a file', ['file:///etc/passwd']],
    ['a fragment', ['https://app.example/callback#x']],
    ['a relative URI', ['/callback']],
    ['no URI', ['callback']],
    ['a valid and an invalid URI', [CALLBACK, 'javascript:alert(1)']],
    ['none', []],
    ['a string instead of a list', CALLBACK],
    ['a number', [1]],
    ['nothing', null],
  ])('refuses a redirect URI: %s', async (_name, uris) => {
    expectError(await register({ redirect_uris: uris }), 400, 'invalid_redirect_uri');
  });

  it('never registers an app for client_secret_basic', async () => {
    const answer = await register({ token_endpoint_auth_method: 'client_secret_basic' });
    if (answer.status !== 201) expectError(answer, 400, 'invalid_client_metadata');
    else expect(answer.body).toMatchObject({ token_endpoint_auth_method: 'client_secret_post' });
  });

  it('refuses http for an app of the type web, too', async () => {
    const uris = { application_type: 'web', redirect_uris: ['http://app.example/callback'] };
    expectError(await register(uris), 400, 'invalid_redirect_uri');
  });

  it.each<[string, Record<string, unknown>]>([
    ['an unknown method', { token_endpoint_auth_method: 'x' }],
    ['only unsupported grants', { grant_types: ['password'] }],
    ['only unsupported response types', { response_types: ['token'] }],
    ['a name that is not a string', { client_name: 5 }],
    ['a logo that is a script', { logo_uri: 'javascript:alert(1)' }],
    ['a home page that is not a URL', { client_uri: 'nope' }],
  ])('refuses metadata: %s', async (_name, metadata) => {
    expectError(await register(metadata), 400, 'invalid_client_metadata');
  });

  it.each<[string, string, string | null]>([
    ['invalid JSON', '{', 'application/json'],
    ['nothing', '', 'application/json'],
    ['a list', '[]', 'application/json'],
    ['null', 'null', 'application/json'],
    ['a string', '"x"', 'application/json'],
    ['a form', `redirect_uris=${CALLBACK}`, 'application/x-www-form-urlencoded'],
    ['JSON as text/plain', JSON.stringify({ redirect_uris: [CALLBACK] }), 'text/plain'],
    ['JSON without a content type', JSON.stringify({ redirect_uris: [CALLBACK] }), null],
  ])('refuses %s', async (_name, body, type) => {
    expectError(await send(body, type), 400, 'invalid_request');
  });

  it('refuses a body of more than 16 KiB', async () => {
    expectError(await register({ client_name: 'x'.repeat(16 * 1024) }), 413, 'invalid_request');
  });

  it('accepts JSON with a charset, and only POST', async () => {
    const body = JSON.stringify({ redirect_uris: [CALLBACK] });
    expect((await send(body, 'application/json; charset=utf-8')).status).toBe(201);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await read(await fetch(`${world.origin}/api/oauth/register`, { method }));
      expectError(answer, 405, 'invalid_request');
      expect(answer.headers.get('allow')).toBe('POST');
    }
  });

  it('shows an app only with its registration access token', async () => {
    const { body: mine } = await register({ client_name: 'Mine' });
    const { body: other } = await register({ client_name: 'Other' });
    const show = async (authorization?: unknown) =>
      read(
        await fetch(String(mine.registration_client_uri), {
          headers: authorization === undefined ? {} : { authorization: `Bearer ${authorization}` },
        }),
      );
    expect(await show(mine.registration_access_token)).toMatchObject({
      status: 200,
      body: { client_id: mine.client_id, client_name: 'Mine' },
    });
    for (const token of [undefined, 'wrong', other.registration_access_token]) {
      const answer = await show(token);
      expect([400, 401, 403]).toContain(answer.status);
      expect(answer.body).toMatchObject({ error: expect.any(String), error_description: expect.any(String) });
      expect(JSON.stringify(answer.body)).not.toContain('Mine');
    }
  });
});
