import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, introspect, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

describe.each([{ profile: 'A' }, { profile: 'B' }])('a refresh token in Profile $profile', ({ profile }) => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile, clock: () => Date.now() });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());
  afterEach(() => {
    vi.useRealTimers();
  });

  const start = async (by = app) => (await connect(by)) as unknown as Tokens;
  const renew = async (refreshToken: string, extra: Record<string, string | undefined> = {}) =>
    token(app, refreshForm(app, refreshToken, extra));

  it('is replaced by each refresh', async () => {
    const first = await start();
    const { status, headers, body } = await renew(first.refresh_token);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: first.scope });
    expect(new Set([first.refresh_token, body.refresh_token, first.access_token, body.access_token]).size).toBe(4);
    expect(await statusOf(world.origin, body.access_token)).toBe(200);
  });

  it('used again after its successor was used ends the whole connection', async () => {
    const first = await start();
    const { body: second } = await renew(first.refresh_token);
    const { body: third } = await renew(second.refresh_token);
    expect(await statusOf(world.origin, third.access_token)).toBe(200);

    expect(await renew(first.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });

    for (const { access_token } of [first, second, third]) expect(await statusOf(world.origin, access_token)).toBe(401);
    expect((await renew(third.refresh_token)).body.error).toBe('invalid_grant');
  });

  it('used again ends its own connection, and none of another sign-in of the same app and member', async () => {
    const browser = createBrowser();
    const signIn = async () => (await connect(app, { browser })) as unknown as Tokens;
    const [ended, kept] = [await signIn(), await signIn()];
    const { body: second } = await renew(ended.refresh_token);
    await renew(second.refresh_token);
    expect((await renew(ended.refresh_token)).status).toBe(400);

    expect(await statusOf(world.origin, second.access_token)).toBe(401);
    expect(await statusOf(world.origin, kept.access_token)).toBe(200);
    const { status, body: next } = await renew(kept.refresh_token);
    expect(status).toBe(200);
    expect((await renew(next.refresh_token)).status).toBe(200);
    expect((await renew(kept.refresh_token)).status).toBe(400);
    expect(await statusOf(world.origin, next.access_token)).toBe(401);
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['a foreign resource', { resource: 'https://evil.test' }, 'invalid_target'],
    ['a relative resource', { resource: '/x' }, 'invalid_target'],
    ['a scope that was not granted', { scope: 'openid courses:write' }, 'invalid_scope'],
    ['a scope that does not exist', { scope: 'courses:read nonsense' }, 'invalid_scope'],
    ['a secret for a public client', { client_secret: 'x' }, 'invalid_client'],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
  ])('stays valid when it is refused with %s', async (_name, extra, error) => {
    const first = await start();
    const refused = await renew(first.refresh_token, extra);
    expect(refused.status).toBe(error === 'invalid_client' ? 401 : 400);
    expect(refused.body.error).toBe(error);
    if (error === 'invalid_target') expect(refused.body.error_description).toContain(`resource=${world.origin}`);
    expect(await statusOf(world.origin, first.access_token)).toBe(200);
    expect((await renew(first.refresh_token)).status).toBe(200);
  });

  it('stays bound to its resource when none is sent, however often', async () => {
    let { refresh_token } = await start();
    for (const times of [1, 2]) {
      const { status, body } = await renew(refresh_token, { resource: undefined });
      expect([times, status]).toEqual([times, 200]);
      expect(await introspect(app, body.access_token)).toMatchObject({ active: true, aud: world.origin });
      ({ refresh_token } = body);
    }
    expect(await renew(refresh_token, { resource: 'https://evil.test' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    });
  });

  it('may request fewer scopes, and later all of them again', async () => {
    const first = await start();
    const { body: less } = await renew(first.refresh_token, { scope: 'openid' });
    expect(less.scope).toBe('openid');
    const headers = { authorization: `Bearer ${less.access_token}` };
    expect((await fetch(`${world.origin}/api/v1/courses`, { headers })).status).toBe(403);
    const { body: all } = await renew(less.refresh_token);
    expect(all.scope).toBe('openid profile email account:read courses:read');
  });

  it('is refused from another app, and stays valid', async () => {
    const thief = await registerApp(world.origin);
    const first = await start();
    const stolen = await token(thief, refreshForm(thief, first.refresh_token));
    expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await renew(first.refresh_token)).status).toBe(200);
  });

  it('of a confidential app needs its secret', async () => {
    const confidential = await registerApp(world.origin, { confidential: true });
    const first = await start(confidential);
    for (const secret of [undefined, 'wrong']) {
      const form = refreshForm(confidential, first.refresh_token, { client_secret: secret });
      expect(await token(confidential, form)).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
    }
    expect((await token(confidential, refreshForm(confidential, first.refresh_token))).status).toBe(200);
  });

  it('is not accepted as an access token, nor an access token as a refresh token', async () => {
    const first = await start();
    expect(await statusOf(world.origin, first.refresh_token)).toBe(401);
    expect((await renew(first.access_token)).body.error).toBe('invalid_grant');
    expect(await renew('')).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
    expect(await renew('unknown')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('used twenty times at once gives the same response to all, with a working successor', async () => {
    for (let round = 0; round < 3; round += 1) {
      const first = await start();
      const answers = await Promise.all(Array.from({ length: 20 }, () => renew(first.refresh_token)));
      for (const { status } of answers) expect(status).toBe(200);
      expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
      expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(1);
      const next = await renew(String(answers[0]?.body.refresh_token));
      expect(next.status).toBe(200);
      expect(await statusOf(world.origin, String(next.body.access_token))).toBe(200);
    }
  });

  it('gets the same response again for ten seconds, and then ends the connection', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const first = await start();
    const { body: second } = await renew(first.refresh_token);
    vi.setSystemTime(Date.now() + 9_000);
    expect((await renew(first.refresh_token)).body).toEqual(second);
    vi.setSystemTime(Date.now() + 1_000);
    expect(await renew(first.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await renew(second.refresh_token)).body.error).toBe('invalid_grant');
    expect(await statusOf(world.origin, second.access_token)).toBe(401);
  });

  it('does not get the response again for a different request or app, and its successor stays valid', async () => {
    const first = await start();
    const { body: second } = await renew(first.refresh_token);
    expect(await renew(first.refresh_token, { scope: 'openid' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    const other = await registerApp(world.origin);
    expect(await token(other, refreshForm(other, first.refresh_token))).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect((await renew(second.refresh_token)).status).toBe(200);
  });

  it('outlives its access token, which expires after ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const first = await start();
    vi.setSystemTime(Date.now() + 598_000);
    expect(await statusOf(world.origin, first.access_token)).toBe(200);
    vi.setSystemTime(Date.now() + 3_000);
    expect(await statusOf(world.origin, first.access_token)).toBe(401);
    expect((await renew(first.refresh_token)).status).toBe(200);
  });

  it('expires after thirty days without use', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const first = await start();
    vi.setSystemTime(Date.now() + 30 * 86_400_000 + 1000);
    expect((await renew(first.refresh_token)).body.error).toBe('invalid_grant');
  });
});
