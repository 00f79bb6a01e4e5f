import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type App,
  authorizationRequest,
  bearer,
  introspect,
  redeem,
  refresh,
  registerApp,
  revoke,
} from '../support/app.ts';
import { approve, OLU, SAM } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each([{ profile: 'A' }, { profile: 'B' }])('the main flow in Profile $profile', ({ profile }) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  const connect = async (app: App, member = SAM as typeof SAM | typeof OLU) => {
    const request = await authorizationRequest(app);
    const returned = await approve(request.url, app.redirectUri, { member });
    return redeem(app, request, returned);
  };

  it.each([
    { kind: 'public', confidential: false },
    { kind: 'confidential', confidential: true },
  ])('a $kind app registers, is approved, reads, refreshes and is revoked', async ({ confidential }) => {
    const app = await registerApp(world.origin, { confidential });
    expect(app.client.client_secret === undefined).toBe(!confidential);

    const tokens = await connect(app);
    expect(tokens).toMatchObject({
      token_type: 'bearer',
      expires_in: 600,
      scope: 'openid profile email account:read courses:read',
    });

    expect(await introspect(app, tokens.access_token)).toMatchObject({
      active: true,
      aud: world.origin,
      client_id: app.client.client_id,
      sub: 'm-1001',
      scope: 'openid profile email account:read courses:read',
      iss: world.origin,
    });

    const courses = await fetch(`${world.origin}/api/v1/courses?per_page=2`, { headers: bearer(tokens.access_token) });
    expect(courses.status).toBe(200);
    expect(((await courses.json()) as { data: unknown[] }).data).toHaveLength(2);

    const who = await fetch(`${app.server.userinfo_endpoint}`, { headers: bearer(tokens.access_token) });
    expect(await who.json()).toEqual({ sub: 'm-1001', email: 'student@example.com', name: 'Sam Student' });

    const renewed = await refresh(app, String(tokens.refresh_token));
    expect(renewed.access_token).not.toBe(tokens.access_token);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);

    await revoke(app, String(renewed.refresh_token));
    for (const token of [tokens.access_token, renewed.access_token]) {
      const refused = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(token) });
      expect(refused.status).toBe(401);
      expect(await introspect(app, token)).toEqual({ active: false });
    }
  });

  it('revoking an access token ends it at every endpoint on the next request', async () => {
    const app = await registerApp(world.origin);
    const { access_token: token } = await connect(app);
    const doors = ['/api/v1/courses', '/api/oauth/userinfo'];
    for (const door of doors) expect((await fetch(world.origin + door, { headers: bearer(token) })).status).toBe(200);
    await revoke(app, token);
    for (const door of doors) expect((await fetch(world.origin + door, { headers: bearer(token) })).status).toBe(401);
  });

  it('keeps all tokens valid over a restart', async () => {
    const app = await registerApp(world.origin);
    const tokens = await connect(app);
    await world.restart();
    const courses = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(tokens.access_token) });
    expect(courses.status).toBe(200);
    expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
  });

  it('sends the school the member’s identity, and nothing that a client can forge', async () => {
    const app = await registerApp(world.origin);
    const { access_token: token } = await connect(app, OLU);
    const response = await fetch(`${world.origin}/api/v1/whoami`, {
      headers: {
        ...bearer(token),
        'x-member-id': 'm-1001',
        X_Member_Id: 'm-1001',
        'x-coursegate-assertion': 'forged',
        'x-client-id': 'forged',
        cookie: 'school_session=somebody-elses',
      },
    });
    const { data } = (await response.json()) as { data: Record<string, unknown> & { headers: Record<string, string> } };
    expect(data).toMatchObject({ member_id: 'm-1002', email: 'other@example.com', client_id: app.client.client_id });
    expect(data.headers['x-member-id']).toBe('m-1002');
    expect(data.headers['x-client-id']).toBe(app.client.client_id);
    for (const name of ['authorization', 'cookie', 'x_member_id']) expect(data.headers).not.toHaveProperty(name);
  });

  it('binds the token to the origin, so that another gate refuses it', async () => {
    const other = await startWorld({ profile });
    try {
      const { access_token: token } = await connect(await registerApp(other.origin));
      const response = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(token) });
      expect(response.status).toBe(401);
    } finally {
      await other.close();
    }
  });
});
