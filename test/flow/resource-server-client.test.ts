import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, postForm, registerApp, revoke } from '../support/app.ts';
import { connect, read, statusOf } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

const SECRET = 'a-secret-of-the-course-api-0123456789';

/** RFC 7662 section 2.1: a service behind the gate that the operator allows to introspect every token. */
describe('an operator’s resource server', () => {
  let folder: string;
  let world: World;
  let app: App;
  let other: App;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-secret-'));
    writeFileSync(join(folder, 'course-api'), `${SECRET}\n`);
    world = await startWorld({
      profile: 'A',
      overrides: { clients: { resourceServers: { 'course-api': { secret: { file: join(folder, 'course-api') } } } } },
    });
    app = await registerApp(world.origin);
    other = await registerApp(world.origin, { confidential: true });
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });

  const API = { client_id: 'course-api', client_secret: SECRET };
  const ask = async (by: Record<string, string>, token: string, hint?: string) =>
    read(await postForm(app.server.introspection_endpoint, { ...by, token, token_type_hint: hint }));

  it('can introspect a token of any app, with everything it needs to decide', async () => {
    for (const by of [app, other]) {
      const { access_token } = await connect(by);
      const { status, headers, body } = await ask(API, access_token);
      expect(status).toBe(200);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(body).toMatchObject({
        active: true,
        token_type: 'Bearer',
        iss: world.origin,
        aud: world.origin,
        sub: 'm-1001',
        client_id: by.client.client_id,
        scope: 'openid profile email account:read courses:read',
      });
    }
  });

  it('learns at once that a token is revoked, with the usual response', async () => {
    const { access_token } = await connect(app);
    expect((await ask(API, access_token)).body.active).toBe(true);
    await revoke(app, access_token);
    const { body } = await ask(API, access_token);
    expect(body).toEqual({ active: false });
    expect((await ask(API, 'unknown')).body).toEqual(body);
  });

  it('does not change that apps see only their own tokens', async () => {
    const { access_token } = await connect(app);
    const stranger = { client_id: other.client.client_id, client_secret: String(other.client.client_secret) };
    expect((await ask(stranger, access_token)).body).toEqual({ active: false });
    expect((await ask({ client_id: app.client.client_id }, access_token)).body.active).toBe(true);
  });

  it.each<[string, Record<string, string>]>([
    ['a wrong secret', { client_id: 'course-api', client_secret: `${SECRET}x` }],
    ['an empty secret', { client_id: 'course-api', client_secret: '' }],
    ['no secret', { client_id: 'course-api' }],
    ['another name', { client_id: 'Course-API', client_secret: SECRET }],
  ])('is refused with %s', async (_name, by) => {
    const { access_token } = await connect(app);
    const { status, body } = await ask(by, access_token);
    expect({ status, body }).toEqual({
      status: 401,
      body: { error: 'invalid_client', error_description: expect.any(String) },
    });
  });

  it('can only introspect', async () => {
    const { access_token } = await connect(app);
    expect([200, 400]).toContain(
      (await postForm(app.server.revocation_endpoint, { ...API, token: access_token })).status,
    );
    expect(await statusOf(world.origin, access_token)).toBe(200);
    for (const form of [
      { grant_type: 'client_credentials' },
      { grant_type: 'authorization_code', code: 'x', redirect_uri: 'x', code_verifier: 'a'.repeat(43) },
      { grant_type: 'refresh_token', refresh_token: 'x' },
    ]) {
      const { status, body } = await read(await postForm(app.server.token_endpoint, { ...API, ...form }));
      expect({ status, token: body.access_token }).toEqual({ status: 400, token: undefined });
    }
    const { url } = await authorizationRequest(app, { client_id: 'course-api' });
    const answer = await fetch(url, { redirect: 'manual' });
    expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
      status: 400,
      location: null,
    });
  });
});
