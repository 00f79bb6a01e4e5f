import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, bearer, introspect, redeem, refresh, registerApp } from '../support/app.ts';
import { connect as connectApp, refreshForm, token } from '../support/connection.ts';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

/** Profile B with one API that is a separate resource, in addition to the origin. */
describe('a further resource', () => {
  let world: World;
  let app: App;
  let part: string;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'B',
      overrides: {
        resources: [{ path: '/api/v1/courses', name: 'Course API', scopes: ['courses:read', 'courses:write'] }],
      },
    });
    app = await registerApp(world.origin);
    part = `${world.origin}/api/v1/courses`;
  });
  afterAll(() => world.close());

  const connect = async (resource: string | undefined, scope = 'openid courses:read orders:read') => {
    const request = await authorizationRequest(app, { scope, resource });
    return redeem(app, request, await approve(request.url, app.redirectUri), resource);
  };
  const status = async (path: string, token: string) =>
    (await fetch(world.origin + path, { headers: bearer(token) })).status;

  it('publishes its metadata at its own address, and is listed by the authorization server', async () => {
    const document = await (await fetch(`${world.origin}/.well-known/oauth-protected-resource/api/v1/courses`)).json();
    expect(document).toMatchObject({
      resource: part,
      authorization_servers: [world.origin],
      // A token for it may have courses:write too: a 403 names it when it is needed.
      scopes_supported: ['courses:read'],
      resource_name: 'Course API',
      resource_documentation: `${world.origin}/auth.md`,
    });
    expect(app.server.protected_resources).toEqual([world.origin, part]);
    const unknown = await fetch(`${world.origin}/.well-known/oauth-protected-resource/api/v1/orders`);
    expect(unknown.status).toBe(404);
  });

  it('binds a token that is valid there and nowhere else', async () => {
    const tokens = await connect(part);
    expect(await introspect(app, tokens.access_token)).toMatchObject({
      active: true,
      aud: part,
      scope: 'courses:read',
    });
    expect(await status('/api/v1/courses', tokens.access_token)).toBe(200);
    expect(await status('/api/v1/orders', tokens.access_token)).toBe(401);
    expect(await status('/api/oauth/userinfo', tokens.access_token)).toBe(401);
    const renewed = await refresh(app, String(tokens.refresh_token), { resource: part });
    expect(await introspect(app, renewed.access_token)).toMatchObject({ aud: part });
    expect(await status('/api/v1/orders', renewed.access_token)).toBe(401);
  });

  it('accepts either spelling of its URL', async () => {
    const tokens = await connect(`${part}/`);
    expect(await introspect(app, tokens.access_token)).toMatchObject({ aud: part });
  });

  it('accepts a token for the whole origin, also one that was issued without naming a resource', async () => {
    for (const resource of [world.origin, undefined]) {
      const tokens = await connect(resource);
      expect(await introspect(app, tokens.access_token)).toMatchObject({ aud: world.origin });
      expect(await status('/api/v1/courses', tokens.access_token)).toBe(200);
      expect(await status('/api/v1/orders', tokens.access_token)).toBe(200);
    }
  });

  it('points to its own metadata in its challenge, and still serves anonymous requests in Profile B', async () => {
    const refused = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer('unknown') });
    expect(refused.headers.get('www-authenticate')).toContain(
      `resource_metadata="${world.origin}/.well-known/oauth-protected-resource/api/v1/courses"`,
    );
    expect((await fetch(`${world.origin}/api/v1/courses`)).status).toBe(200);
  });

  it('may be requested together with the origin, and each token is then for the one that its request names', async () => {
    const request = await authorizationRequest(app, { scope: 'openid courses:read orders:read' });
    const both = `${request.url}&resource=${encodeURIComponent(part)}`;
    const returned = await approve(both, app.redirectUri);
    await expect(redeem(app, request, returned, '')).rejects.toMatchObject({ error: 'invalid_target' });
    const tokens = await redeem(app, request, returned, part);
    expect(await introspect(app, tokens.access_token)).toMatchObject({ aud: part });
    const unnamed = token(app, refreshForm(app, tokens.refresh_token, { resource: undefined }));
    expect((await unnamed).body).toEqual({
      error: 'invalid_target',
      error_description: `a token is for one resource: send resource=${world.origin} or resource=${part}`,
    });
    const whole = await refresh(app, String(tokens.refresh_token), { resource: world.origin });
    expect(await introspect(app, whole.access_token)).toMatchObject({ aud: world.origin });
    expect(await status('/api/v1/orders', whole.access_token)).toBe(200);
  });

  it('is refused at a refresh when the client was granted another', async () => {
    const tokens = await connect(world.origin);
    await expect(refresh(app, String(tokens.refresh_token), { resource: part })).rejects.toMatchObject({
      error: 'invalid_target',
    });
    expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
  });
});

it('a refresh that names no resource keeps its binding even where clients must name one', async () => {
  const world = await startWorld({
    profile: 'A',
    overrides: { resources: [{ path: '/api/v1/courses', name: 'Course API', scopes: ['courses:read'] }] },
  });
  try {
    const app = { ...(await registerApp(world.origin)), resource: `${world.origin}/api/v1/courses` };
    const { refresh_token } = await connectApp(app, { parameters: { resource: app.resource, scope: 'courses:read' } });
    const renewed = await token(app, refreshForm(app, refresh_token, { resource: undefined }));
    expect(await introspect(app, renewed.body.access_token)).toMatchObject({ active: true, aud: app.resource });
  } finally {
    await world.close();
  }
});
