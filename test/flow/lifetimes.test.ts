import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type App, authorizationRequest, redeem, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { approve, offeredScopes, reachConsent } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

const DAY = 86_400_000;

describe('the lifetime of', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', clock: () => Date.now() });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const start = async () => (await connect(app)) as unknown as Tokens;
  const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

  it('a connection is one year, however often it was refreshed', async () => {
    let { refresh_token } = await start();
    for (let days = 0; days < 360; days += 20) {
      pass(20 * DAY);
      const { status, body } = await token(app, refreshForm(app, refresh_token));
      expect({ days, status }).toEqual({ days, status: 200 });
      refresh_token = body.refresh_token;
    }
    pass(5 * DAY + 1000);
    const { status, body } = await token(app, refreshForm(app, refresh_token));
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' });
  });

  it('an authorization request is 15 minutes', async () => {
    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    pass(901_000);
    const late = await browser.submit(page, { decision: 'approve', scope: offeredScopes(page) });
    expect(late.status).toBe(400);
    expect(late.text).toContain('<main id="error">');
    expect((await browser.open(page.url)).status).toBe(400);
  });

  it('a refresh token is independent of the browser’s session', async () => {
    const { access_token, refresh_token } = await start();
    pass(599_000);
    expect(await statusOf(world.origin, access_token)).toBe(200);
    pass(2 * 3600_000);
    expect((await token(app, refreshForm(app, refresh_token))).status).toBe(200);
  });

  it('an access token ends at every endpoint after 600 seconds', async () => {
    const { access_token } = await start();
    pass(601_000);
    expect(await statusOf(world.origin, access_token)).toBe(401);
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await fetch(`${world.origin}/api/oauth/userinfo`, { headers })).status).toBe(401);
  });

  it('both tokens of a pair ends when either is revoked', async () => {
    const { access_token, refresh_token } = await start();
    await revoke(app, access_token);
    expect((await token(app, refreshForm(app, refresh_token))).body.error).toBe('invalid_grant');
  });

  it('one authorization does not affect another of the same app, even in the same browser', async () => {
    const app = await registerApp(world.origin);
    const browser = createBrowser();
    const tokens: Tokens[] = [];
    for (const scope of ['openid courses:read orders:read', 'openid courses:read']) {
      const request = await authorizationRequest(app, { scope });
      const { page } = await reachConsent(request.url, undefined, browser);
      // The member is asked each time, for all scopes: an earlier approval is never reused (RFC 8252 section 8.6).
      expect(offeredScopes(page)).toEqual(scope.split(' ').slice(1));
      const returned = await approve(request.url, app.redirectUri, { browser });
      tokens.push((await redeem(app, request, returned)) as unknown as Tokens);
    }
    const [one, two] = tokens;
    await revoke(app, String(one?.refresh_token));
    expect(await statusOf(world.origin, String(one?.access_token))).toBe(401);
    expect(await statusOf(world.origin, String(two?.access_token))).toBe(200);
  });
});
