import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, bearer, redeem, refresh, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

const ADMIN = { hmac: { secret: { env: 'COMMAND_SECRET' } } };

describe.each(['RS256', 'ES256'])('rotating the signing keys of a running gate, for an app of %s', (alg) => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', environment: { COMMAND_SECRET }, overrides: { admin: ADMIN } });
    app = await registerApp(world.origin, { metadata: { id_token_signed_response_alg: alg } });
  });
  afterAll(() => world.close());

  const connect = async () => {
    const request = await authorizationRequest(app);
    return redeem(app, request, await approve(request.url, app.redirectUri));
  };
  const kids = async () => {
    const { keys } = (await (await fetch(`${world.origin}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string; alg: string }[];
    };
    return keys.filter((key) => key.alg === alg).map(({ kid }) => kid);
  };
  const rotate = () => command(world.admin, '/keys/rotate', { body: '{"now":true}' });
  const verify = (idToken: string) =>
    jwtVerify(idToken, createRemoteJWKSet(new URL(`${world.origin}/.well-known/jwks.json`)), { issuer: world.origin });

  it('publishes the next key before it is used, keeps the previous one, and leaves all tokens valid', async () => {
    const [current, next] = await kids();
    const before = await connect();
    expect(decodeProtectedHeader(String(before.id_token))).toMatchObject({ alg, kid: current });

    expect((await rotate()).status).toBe(200);
    expect(await kids()).toEqual([next, expect.any(String), current]);

    // Everything issued before remains valid: the ID token verifies, the tokens work, and the school accepts the
    // assertion.
    await verify(String(before.id_token));
    expect((await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(before.access_token) })).status).toBe(200);
    const renewed = await refresh(app, String(before.refresh_token));
    expect(decodeProtectedHeader(String(renewed.id_token)).kid).toBe(next);
    await verify(String(renewed.id_token));

    const after = await connect();
    expect(decodeProtectedHeader(String(after.id_token)).kid).toBe(next);
    const account = await fetch(`${world.origin}/account/graphql`, {
      method: 'POST',
      headers: { ...bearer(after.access_token), 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ viewer { id email } }' }),
    });
    expect(await account.json()).toEqual({ data: { viewer: { id: 'm-1001', email: 'student@example.com' } } });
  });

  it('finishes an authorization that began under the old key', async () => {
    const request = await authorizationRequest(app);
    await rotate();
    const returned = await approve(request.url, app.redirectUri);
    await rotate();
    expect((await redeem(app, request, returned)).access_token).toBeTruthy();
  });

  it('keeps the keys over a restart', async () => {
    const before = await kids();
    await world.restart();
    expect(await kids()).toEqual(before);
  });

  it('cannot be started by a page in a browser or from the public listener', async () => {
    const before = await kids();
    const fromPage = await fetch(`${world.admin}/keys/rotate`, {
      method: 'POST',
      headers: { origin: 'https://evil.example' },
    });
    expect(fromPage.status).toBe(403);
    expect((await fetch(`${world.origin}/keys/rotate`, { method: 'POST' })).status).not.toBe(200);
    expect(await kids()).toEqual(before);
  });
});
