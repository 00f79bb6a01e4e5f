import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, registerApp } from '../support/app.ts';
import { approved, read, refreshForm, statusOf, token } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

type Form = Record<string, string | undefined>;

const FORM = 'application/x-www-form-urlencoded';

describe.each([{ profile: 'A' }, { profile: 'B' }])('the token endpoint in Profile $profile', ({ profile }) => {
  let world: World;
  let app: App;
  let confidential: App;
  let other: App;
  /** One code for the whole file: a refused request must not consume it. */
  let form: Record<string, string>;
  let secretForm: Record<string, string>;
  beforeAll(async () => {
    world = await startWorld({ profile });
    app = await registerApp(world.origin);
    confidential = await registerApp(world.origin, { confidential: true });
    other = await registerApp(world.origin, { confidential: true });
    form = (await approved(app)).form;
    secretForm = (await approved(confidential)).form;
  });
  afterAll(() => world.close());

  const expectError = (answer: { status: number; headers: Headers; body: object }, status: number, error: string) => {
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({ error, error_description: expect.stringMatching(/^.{5,}$/) });
    expect(JSON.stringify(answer.body)).not.toMatch(/\bat \S+:\d|node_modules|\/src\//);
  };

  const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

  const send = async (body: string | Uint8Array<ArrayBuffer> | FormData, headers: Record<string, string>) =>
    read(await fetch(String(app.server.token_endpoint), { method: 'POST', body, headers }));

  it.each([
    ['JSON', 'application/json', () => JSON.stringify(form)],
    ['text', 'text/plain', () => String(new URLSearchParams(form))],
    ['two types', `application/json, ${FORM}`, () => String(new URLSearchParams(form))],
  ])('refuses a body of %s', async (_name, type, body) => {
    expectError(await send(body(), { 'content-type': type }), 400, 'invalid_request');
  });

  it('refuses a multipart body, one without a type, an empty one and one of separators', async () => {
    const multipart = new FormData();
    for (const [name, value] of Object.entries(form)) multipart.set(name, value);
    expectError(await send(multipart, {}), 400, 'invalid_request');
    expectError(await send(new TextEncoder().encode('grant_type=x'), {}), 400, 'invalid_request');
    for (const body of ['', '&&&']) expect((await send(body, { 'content-type': FORM })).status).toBeLessThan(402);
    expectError(await send(`client_id=${app.client.client_id}`, { 'content-type': FORM }), 400, 'invalid_request');
  });

  it.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('refuses %s', async (method) => {
    const url = `${app.server.token_endpoint}?${new URLSearchParams(form)}`;
    const answer = await fetch(url, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('POST');
    if (method !== 'HEAD') expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
  });

  it('ignores parameters in the query', async () => {
    const url = `${app.server.token_endpoint}?${new URLSearchParams(form)}`;
    const answer = await read(await fetch(url, { method: 'POST', headers: { 'content-type': FORM } }));
    expectError(answer, 400, 'invalid_request');
  });

  it.each(['grant_type', 'code', 'redirect_uri', 'client_id', 'code_verifier'])(
    'refuses a repeated %s',
    async (name) => {
      const body = `${new URLSearchParams(form)}&${name}=${encodeURIComponent(form[name] ?? '')}`;
      expectError(await send(body, { 'content-type': FORM }), 400, 'invalid_request');
    },
  );

  it('refuses a body of 57 KiB, and compressed bodies', async () => {
    expectError(await token(app, { ...form, pad: 'x'.repeat(57 * 1024) }), 413, 'invalid_request');
    const chunked = await rawRequest(world.origin, {
      method: 'POST',
      path: '/api/oauth/token',
      headers: { 'content-type': FORM, 'transfer-encoding': 'chunked' },
      body: `pad=${'x'.repeat(57 * 1024)}`,
    });
    expect(chunked.status).toBe(413);
    const zipped = gzipSync(String(new URLSearchParams(form)));
    expectError(await send(zipped, { 'content-type': FORM, 'content-encoding': 'gzip' }), 415, 'invalid_request');
  });

  it.each<[string, Form]>([
    ['password', { grant_type: 'password', username: 'student@example.com', password: 'student' }],
    ['client_credentials', { grant_type: 'client_credentials' }],
    ['implicit', { grant_type: 'implicit' }],
    ['device_code', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }],
    ['token-exchange', { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' }],
    ['jwt-bearer', { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'e30.e30.' }],
    ['another case', { grant_type: 'Authorization_Code' }],
  ])('refuses the grant %s', async (_name, change) => {
    expectError(await token(app, { ...form, ...change }), 400, 'unsupported_grant_type');
  });

  const HOW = 'authenticate with client_id and client_secret in the body, or with both in HTTP Basic, form-encoded';

  it.each(['Bearer', 'DPoP', 'Digest'])('refuses %s authentication with a challenge of that scheme', async (scheme) => {
    const credentials = Buffer.from(`${form.client_id}:`).toString('base64');
    const answer = await token(app, form, { authorization: `${scheme} ${credentials}` });
    expectError(answer, 401, 'invalid_client');
    expect(answer.headers.get('www-authenticate')).toBe(
      `${scheme} realm="${world.origin}", error="invalid_client", error_description="${HOW}"`,
    );
  });

  it.each<[string, () => string]>([
    ['nothing', () => 'Basic'],
    ['no Base64', () => 'Basic a*b'],
    ['no colon', () => `Basic ${Buffer.from('nobody').toString('base64')}`],
    ['no client_id', () => basic('', 'x')],
    ['a percent sign that encodes nothing', () => basic(confidential.client.client_id, '%zz')],
    ['a control character', () => basic(confidential.client.client_id, 'a%00b')],
    ['two values', () => `${basic(confidential.client.client_id, 'x')}, ${basic('nobody', 'x')}`],
    ['a wrong secret', () => basic(confidential.client.client_id, 'wrong')],
    ['another client’s secret', () => basic(confidential.client.client_id, String(other.client.client_secret))],
    ['a secret of a public client', () => basic(app.client.client_id, 'x')],
    ['an unknown client', () => basic('nobody', 'x')],
  ])('refuses HTTP Basic with %s, with a challenge', async (_name, authorization) => {
    const { client_id: _, client_secret: __, ...unauthenticated } = secretForm;
    const answer = await token(confidential, unauthenticated, { authorization: authorization() });
    expectError(answer, 401, 'invalid_client');
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Basic realm="[^"]+", error="invalid_client", error_description="[^"]+"$/,
    );
  });

  it('refuses two Authorization fields', async () => {
    const right = basic(confidential.client.client_id, String(confidential.client.client_secret));
    const { client_secret: _, ...rest } = secretForm;
    const { status } = await rawRequest(world.origin, {
      method: 'POST',
      path: '/api/oauth/token',
      headers: { 'content-type': FORM, Authorization: [right, right] },
      body: String(new URLSearchParams(rest)),
    });
    expect(status).toBe(401);
  });

  it('refuses HTTP Basic beside a secret or another client in the body', async () => {
    const right = basic(confidential.client.client_id, String(confidential.client.client_secret));
    const { client_secret: _, ...rest } = secretForm;
    for (const sent of [secretForm, { ...rest, client_id: other.client.client_id }, { ...rest, client_id: 'nobody' }])
      expectError(await token(confidential, sent, { authorization: right }), 400, 'invalid_request');
    const open = basic(app.client.client_id, '');
    expectError(await token(app, { ...form, client_secret: 'x' }, { authorization: open }), 400, 'invalid_request');
    expectError(await token(app, { ...form, client_id: 'nobody' }, { authorization: open }), 400, 'invalid_request');
  });

  it('refuses a confidential client with an empty secret in HTTP Basic', async () => {
    const { client_secret: _, ...rest } = secretForm;
    const answer = await token(confidential, rest, { authorization: basic(confidential.client.client_id, '') });
    expectError(answer, 401, 'invalid_client');
  });

  it.each<[string, () => Form]>([
    ['an unknown client', () => ({ ...form, client_id: 'nobody' })],
    ['a client named __proto__', () => ({ ...form, client_id: '__proto__' })],
    ['a public client with a secret', () => ({ ...form, client_secret: 'x' })],
    ['a wrong secret', () => ({ ...secretForm, client_secret: 'wrong' })],
    ['another client’s secret', () => ({ ...secretForm, client_secret: String(other.client.client_secret) })],
  ])('refuses %s', async (_name, sent) => {
    expectError(await token(app, sent()), 401, 'invalid_client');
  });

  it('refuses a confidential client without its secret', async () => {
    const { client_secret: _, ...without } = secretForm;
    expectError(await token(confidential, without), 401, 'invalid_client');
  });

  it.each<[string, Form, string]>([
    ['no verifier', { code_verifier: undefined }, 'invalid_grant'],
    ['a wrong verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
    ['a verifier of 42 characters', { code_verifier: 'a'.repeat(42) }, 'invalid_request'],
    ['a verifier of 129 characters', { code_verifier: 'a'.repeat(129) }, 'invalid_request'],
    ['no redirect URI', { redirect_uri: undefined }, 'invalid_request'],
    ['another redirect URI', { redirect_uri: 'https://evil.test/callback' }, 'invalid_grant'],
    ['no code', { code: undefined }, 'invalid_request'],
    ['an unknown code', { code: 'nothing' }, 'invalid_grant'],
    ['a long code', { code: 'x'.repeat(50_000) }, 'invalid_grant'],
    ['a code with a NUL', { code: 'x\0' }, 'invalid_grant'],
    ['a foreign resource', { resource: 'https://evil.test' }, 'invalid_target'],
    ['a relative resource', { resource: '/mcp' }, 'invalid_target'],
  ])('refuses %s', async (_name, change, error) => {
    expectError(await token(app, { ...form, ...change }), 400, error);
  });

  it('names the right resource when it refuses a foreign one', async () => {
    const { body } = await token(app, { ...form, resource: 'https://evil.test' });
    expect(body.error_description).toContain(`resource=${world.origin}`);
    const both = `${new URLSearchParams(form)}&resource=https%3A%2F%2Fevil.test`;
    expectError(await send(both, { 'content-type': FORM }), 400, 'invalid_target');
  });

  it.runIf(profile === 'A')('refuses a request without a resource, and names the right one', async () => {
    const answer = await token(app, { ...form, resource: undefined });
    expectError(answer, 400, 'invalid_target');
    expect(answer.body.error_description).toContain(`resource=${world.origin}`);
  });

  it.each(['//api/oauth/token', '/api/oauth/token/', '/API/oauth/token', '/api/oauth/./token', '/api/oauth/token;x'])(
    'is not served at %s',
    async (path) => {
      const body = String(new URLSearchParams(form));
      const answer = await rawRequest(world.origin, { method: 'POST', path, headers: { 'content-type': FORM }, body });
      expect([400, 404]).toContain(answer.status);
      expect(answer.text).not.toContain('access_token');
    },
  );

  it('still redeems the code after all of these refusals, in JSON even for a browser', async () => {
    const answer = await token(app, form, { accept: 'text/html' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body).toEqual({
      access_token: expect.stringMatching(/^[\w-]{43}$/),
      refresh_token: expect.stringMatching(/^r1_[\w-]{72}$/),
      id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'openid profile email account:read courses:read',
    });
    expect(await statusOf(world.origin, answer.body.access_token)).toBe(200);
    expect((await token(confidential, secretForm)).status).toBe(200);
  });

  it.each([
    ['a confidential client by its secret', true],
    ['a public client by an empty one', false],
  ])('accepts %s in HTTP Basic, form-encoded, with or without client_id in the body', async (_, secret) => {
    const client = secret ? confidential : app;
    const { client_secret = '', client_id, ...rest } = (await approved(client)).form;
    const encoded = (text: string) => text.replaceAll(/[-_]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
    const first = await token(client, rest, { authorization: basic(encoded(client_id ?? ''), encoded(client_secret)) });
    expect(first.status).toBe(200);
    const { client_secret: _secret, ...refresh } = refreshForm(client, first.body.refresh_token);
    const authorization = basic(client_id ?? '', client_secret).replace('Basic', 'basic');
    const second = await token(client, refresh, { authorization });
    expect(second.status).toBe(200);
    // The same request by the other method is a repeat, and gets the same answer.
    const again = await token(client, refreshForm(client, first.body.refresh_token));
    expect(again.body).toEqual(second.body);
  });
});
