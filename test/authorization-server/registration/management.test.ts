import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postForm, registerApp } from '../../support/app.ts';
import { approved, connect, refreshForm, statusOf, token } from '../../support/connection.ts';
import { startWorld, type World } from '../../support/world.ts';
import { type Answer, CALLBACK, call, MANY, mayRedirect, register } from './support.ts';

interface Registered {
  readonly id: string;
  readonly token: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
}

describe('registrations managed by their apps (RFC 7592)', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', overrides: MANY });
  });
  afterAll(() => world.close());

  const registered = async (metadata: Record<string, unknown> = {}): Promise<Registered> => {
    const { status, body } = await register(world, { client_name: 'Before', ...metadata });
    expect(status).toBe(201);
    return {
      id: String(body.client_id),
      token: String(body.registration_access_token),
      path: new URL(String(body.registration_client_uri)).pathname,
      body,
    };
  };
  const update = (app: Registered, metadata: Record<string, unknown>, token = app.token): Promise<Answer> =>
    call(world, 'PUT', app.path, { token, body: { client_id: app.id, redirect_uris: [CALLBACK], ...metadata } });
  const read = (app: Registered, token = app.token) => call(world, 'GET', app.path, { token });

  const expectRefusedToken = (answer: Answer) => {
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toEqual({ error: 'invalid_token', error_description: expect.any(String) });
  };

  it('can be read', async () => {
    const app = await registered({ token_endpoint_auth_method: 'client_secret_post' });
    const { status, headers, body } = await read(app);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toEqual(app.body);
  });

  it('are replaced as a whole by an update, which issues a new token and invalidates the old one', async () => {
    const app = await registered({ client_uri: 'https://app.example/' });
    const other = 'https://app.example/other';
    const { status, headers, body } = await update(app, { client_name: 'After', redirect_uris: [other] });
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toMatchObject({ client_id: app.id, client_name: 'After', redirect_uris: [other] });
    expect(body).toMatchObject({
      token_endpoint_auth_method: 'none',
      client_id_issued_at: app.body.client_id_issued_at,
    });
    // RFC 7592 section 2.2: omitted members are removed.
    expect(body).not.toHaveProperty('client_uri');
    expect(body.registration_access_token).not.toBe(app.token);
    expectRefusedToken(await read(app));
    expect(await read(app, String(body.registration_access_token))).toMatchObject({
      status: 200,
      body: { client_name: 'After' },
    });
    expect(await mayRedirect(world, app.id, other)).toBe(true);
    expect(await mayRedirect(world, app.id, CALLBACK)).toBe(false);
  });

  it('keep their secret over an update', async () => {
    const app = await registered({ token_endpoint_auth_method: 'client_secret_post' });
    const first = await update(app, { client_secret: app.body.client_secret });
    expect(first).toMatchObject({ status: 200, body: { client_secret: app.body.client_secret } });
    const second = await update(app, {}, String(first.body.registration_access_token));
    expect(second).toMatchObject({
      status: 200,
      body: { client_secret: app.body.client_secret, token_endpoint_auth_method: 'client_secret_post' },
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['http on another host', { redirect_uris: ['http://evil.test/'] }, 'invalid_redirect_uri'],
    ['a wildcard', { redirect_uris: ['https://*.evil.test/'] }, 'invalid_redirect_uri'],
    ['no redirect URI', { redirect_uris: null }, 'invalid_redirect_uri'],
    ['eleven redirect URIs', { redirect_uris: Array(11).fill(CALLBACK) }, 'invalid_redirect_uri'],
    ['a name of 65 characters', { client_name: 'x'.repeat(65) }, 'invalid_client_metadata'],
    ['a logo on http', { logo_uri: 'http://169.254.169.254/' }, 'invalid_client_metadata'],
    ['a secret for a public app', { token_endpoint_auth_method: 'client_secret_post' }, 'invalid_client_metadata'],
    ['Basic for a public app', { token_endpoint_auth_method: 'client_secret_basic' }, 'invalid_client_metadata'],
    ['another method', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
    ['the implicit grant', { grant_types: ['implicit'] }, 'invalid_client_metadata'],
    ['another client_id', { client_id: 'other' }, 'invalid_request'],
    ['no client_id', { client_id: null }, 'invalid_request'],
    ['a secret that is not its', { client_secret: 'x' }, 'invalid_request'],
    ['a token of its choosing', { registration_access_token: 'x' }, 'invalid_request'],
    ['an address of its choosing', { registration_client_uri: 'https://evil.test/' }, 'invalid_request'],
    ['a date of its choosing', { client_id_issued_at: 1 }, 'invalid_request'],
    ['an expiry of its choosing', { client_secret_expires_at: 1 }, 'invalid_request'],
  ])('cannot be updated to %s', async (_name, metadata, error) => {
    const app = await registered();
    const { status, body } = await update(app, metadata);
    expect({ status, error: body.error }).toEqual({ status: 400, error });
    expect((await read(app)).body).toEqual(app.body);
  });

  it('of confidential apps cannot become public', async () => {
    const app = await registered({ token_endpoint_auth_method: 'client_secret_post' });
    const { status, body } = await update(app, { token_endpoint_auth_method: 'none' });
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_client_metadata' });
    expect((await read(app)).body).toEqual(app.body);
  });

  it.each<[string, string, string | undefined, number]>([
    ['not JSON', '{', undefined, 400],
    ['a repeated member', '{"client_id":"x","client_id":"x"}', undefined, 400],
    ['a form', 'client_id=x', 'application/x-www-form-urlencoded', 400],
    ['more than 16 KiB', `{"x":"${'x'.repeat(16 * 1024)}"}`, undefined, 413],
  ])('refuse an update with %s', async (_name, raw, type, status) => {
    const app = await registered();
    const answer = await call(world, 'PUT', app.path, {
      token: app.token,
      raw,
      ...(type === undefined ? {} : { type }),
    });
    expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error: 'invalid_request' });
    expect((await read(app)).status).toBe(200);
  });

  it.each(['GET', 'PUT', 'DELETE'])(
    'reveal nothing without their token for %s, and a token used elsewhere is revoked',
    async (method) => {
      const [mine, theirs] = [await registered({ client_name: 'Mine' }), await registered({ client_name: 'Theirs' })];
      const body = method === 'PUT' ? { body: { client_id: mine.id, redirect_uris: ['javascript:alert(1)'] } } : {};
      for (const bad of [undefined, 'x'.repeat(43)]) {
        expectRefusedToken(
          await call(world, method, mine.path, { ...body, ...(bad === undefined ? {} : { token: bad }) }),
        );
      }
      expectRefusedToken(await call(world, method, `${mine.path}x`, { ...body, token: 'x'.repeat(43) }));
      expect((await read(theirs)).status).toBe(200);
      expectRefusedToken(await call(world, method, mine.path, { ...body, token: theirs.token }));
      expectRefusedToken(await read(theirs));
      expect((await read(mine)).body).toEqual(mine.body);
    },
  );

  it.each(['Basic eDp5', 'DPoP x', 'Bearer', 'Bearer  x', 'Bearer x y', 'Bearer é'])(
    'refuse the authorization %j',
    async (value) => {
      const app = await registered();
      const response = await fetch(`${world.origin}${app.path}`, { headers: { authorization: value } }).catch(
        () => undefined,
      );
      if (response !== undefined) expect(response.status).toBe(401);
      expect((await read(app)).status).toBe(200);
    },
  );

  it('refuse other methods with Allow', async () => {
    const app = await registered();
    for (const method of ['POST', 'PATCH']) {
      const { status, headers } = await call(world, method, app.path, { token: app.token });
      expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD, PUT, DELETE' });
    }
  });

  it('may be managed by pages of other origins', async () => {
    const app = await registered();
    const response = await fetch(`${world.origin}${app.path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-method': 'DELETE' },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-methods')).toBe('GET, PUT, DELETE');
    expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization');
  });

  it('end with everything that was approved, at every endpoint and at once', async () => {
    const app = await registerApp(world.origin);
    const other = await registerApp(world.origin);
    const [tokens, others] = [await connect(app), await connect(other)];
    const pending = await approved(app);
    expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
    expect(await statusOf(world.origin, others.access_token)).toBe(200);

    const path = new URL(String(app.client.registration_client_uri)).pathname;
    const own = { token: String(app.client.registration_access_token) };
    const gone = await call(world, 'DELETE', path, own);
    expect({ status: gone.status, body: gone.body }).toEqual({ status: 204, body: {} });

    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    for (const [method, door] of [
      ['GET', '/api/oauth/userinfo'],
      ['POST', '/account/graphql'],
      ['GET', '/api/v1/courses'],
    ] as const) {
      const answer = await call(world, method, door, {
        token: tokens.access_token,
        ...(method === 'POST' ? { body: { query: '{__typename}' } } : {}),
      });
      expect(answer.status).toBe(401);
    }
    const unknown = { status: 401, body: { error: 'invalid_client' } };
    expect(await token(app, refreshForm(app, tokens.refresh_token))).toMatchObject(unknown);
    expect(await token(app, pending.form)).toMatchObject(unknown);
    const asked = await postForm(app.server.introspection_endpoint, {
      client_id: app.client.client_id,
      token: tokens.access_token,
    });
    expect(asked.status).toBe(401);
    expect(await mayRedirect(world, app.client.client_id, app.redirectUri)).toBe(false);
    expectRefusedToken(await call(world, 'GET', path, own));
    expectRefusedToken(await call(world, 'DELETE', path, own));

    expect(await statusOf(world.origin, others.access_token)).toBe(200);
    expect((await token(other, refreshForm(other, others.refresh_token))).status).toBe(200);
  });
});
