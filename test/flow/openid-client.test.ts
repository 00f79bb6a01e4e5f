import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { READ_SCOPES, SCOPES } from '../support/catalogue.ts';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

const CALLBACK = 'https://app.example/callback';

describe.each([
  { profile: 'A', algorithm: 'oidc' },
  { profile: 'B', algorithm: 'oauth2' },
] as const)('openid-client in Profile $profile, by $algorithm discovery', ({ profile, algorithm }) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  // The library's only way to use plain HTTP. It is marked as deprecated to discourage other uses.
  const insecure = { execute: [oidc.allowInsecureRequests], algorithm };

  const register = (method: string, authentication?: oidc.ClientAuth) =>
    oidc.dynamicClientRegistration(
      new URL(world.origin),
      { redirect_uris: [CALLBACK], token_endpoint_auth_method: method, client_name: 'Strict App' },
      authentication,
      insecure,
    );

  it.each([
    { kind: 'public', method: 'none', authentication: oidc.None() },
    { kind: 'confidential', method: 'client_secret_post', authentication: undefined },
    { kind: 'confidential', method: 'client_secret_basic', authentication: oidc.ClientSecretBasic() },
  ])('completes the whole flow as a $kind client, by $method', async ({ method, authentication }) => {
    const config = await register(method, authentication);
    expect(config.serverMetadata()).toMatchObject({ issuer: world.origin, scopes_supported: SCOPES });

    const verifier = oidc.randomPKCECodeVerifier();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const resource: Record<string, string> = profile === 'A' ? { resource: world.origin } : {};
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile email courses:read',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...resource,
    });

    const returned = await approve(url.href, CALLBACK);
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const tokens = await oidc.authorizationCodeGrant(config, returned, checks, resource);
    expect(tokens.claims()).toMatchObject({
      iss: world.origin,
      aud: config.clientMetadata().client_id,
      sub: 'm-1001',
      nonce,
    });
    expect(tokens.claims()).not.toHaveProperty('email');

    const who = await oidc.fetchUserInfo(config, tokens.access_token, 'm-1001');
    expect(who).toEqual({ sub: 'm-1001', email: 'student@example.com', name: 'Sam Student' });

    const courses = new URL('/api/v1/courses', world.origin);
    expect((await oidc.fetchProtectedResource(config, tokens.access_token, courses, 'GET')).status).toBe(200);
    const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(await oidc.tokenIntrospection(config, renewed.access_token)).toMatchObject({
      active: true,
      aud: world.origin,
      sub: 'm-1001',
      client_id: config.clientMetadata().client_id,
    });

    await oidc.tokenRevocation(config, renewed.refresh_token ?? '');
    expect(await oidc.tokenIntrospection(config, renewed.access_token)).toEqual({ active: false });
    await expect(oidc.fetchProtectedResource(config, renewed.access_token, courses, 'GET')).rejects.toMatchObject({
      name: 'WWWAuthenticateChallengeError',
      status: 401,
    });
  });

  it('that copies the scopes of the resource asks only to read, and for a change when a 403 names its scope', async () => {
    const config = await register('none', oidc.None());
    const metadata = await fetch(`${world.origin}/.well-known/oauth-protected-resource`);
    const { resource, scopes_supported } = (await metadata.json()) as { resource: string; scopes_supported: string[] };
    const authorize = async (scope: string) => {
      const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: CALLBACK,
        scope,
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
        resource,
      });
      const returned = await approve(url.href, CALLBACK);
      return oidc.authorizationCodeGrant(config, returned, { pkceCodeVerifier, expectedState }, { resource });
    };
    const courses = new URL('/api/v1/courses', world.origin);
    const create = (token: string) =>
      oidc.fetchProtectedResource(
        config,
        token,
        courses,
        'POST',
        '{"title":"Knots"}',
        new Headers({ 'content-type': 'application/json' }),
      );

    const reading = await authorize(scopes_supported.join(' '));
    expect(reading.scope?.split(' ')).toEqual(READ_SCOPES);
    expect((await oidc.fetchProtectedResource(config, reading.access_token, courses, 'GET')).status).toBe(200);
    const refused = await create(reading.access_token).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ name: 'WWWAuthenticateChallengeError', status: 403 });
    const [challenge] = (refused as oidc.WWWAuthenticateChallengeError).cause;
    expect(challenge?.parameters).toMatchObject({ error: 'insufficient_scope' });
    const asked = challenge?.parameters.scope ?? '';
    expect(asked.split(' ')).toEqual([...READ_SCOPES, 'courses:write']);

    const writing = await authorize(asked);
    expect((await create(writing.access_token)).status).toBe(201);
  });

  it('rejects a response with another issuer or state', async () => {
    const config = await register('none', oidc.None());
    const verifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: 'mine',
      nonce: 'mine',
      resource: world.origin,
    });
    const returned = await approve(url.href, CALLBACK);
    const mixedUp = new URL(returned);
    mixedUp.searchParams.set('iss', 'https://evil.test');
    const checks = { pkceCodeVerifier: verifier, expectedState: 'mine', expectedNonce: 'mine' };
    const resource = { resource: world.origin };
    await expect(oidc.authorizationCodeGrant(config, mixedUp, checks, resource)).rejects.toThrow();
    const otherState = { ...checks, expectedState: 'other' };
    await expect(oidc.authorizationCodeGrant(config, returned, otherState, resource)).rejects.toThrow();
    const tokens = await oidc.authorizationCodeGrant(config, returned, checks, resource);
    expect(tokens.claims()?.nonce).toBe('mine');
  });
});
