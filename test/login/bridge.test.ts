import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { BRIDGE_SECRET, type BridgeBackend, pack, sign, startBridgeBackend } from '../support/bridge-backend.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { offeredScopes } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

/** Milliseconds by which the gate's clock is ahead. */
let ahead = 0;
let backend: BridgeBackend;
let world: World;

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bridge-'));
const logFile = join(folder, 'log');

beforeAll(async () => {
  backend = await startBridgeBackend();
  world = await startWorld({
    profile: 'A',
    log: createLog('info', openSync(logFile, 'w')),
    clock: () => Date.now() + ahead,
    environment: { BRIDGE_SECRET },
    overrides: { login: { kind: 'bridge', url: `${backend.url}/sso`, secret: { env: 'BRIDGE_SECRET' } } },
  });
});
afterAll(async () => {
  await world.close();
  await backend.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  backend.says = {};
  ahead = 0;
});

const authorize = async (parameters: Record<string, string> = {}) => {
  const app = await registerApp(world.origin);
  return { app, request: await authorizationRequest(app, { login_hint: 'sam@school.test', ...parameters }) };
};

const isCallback = (url: string) => url.startsWith(`${world.origin}/oauth/sign-in/callback/bridge`);

/** A browser that is signed in at the school, stopped at the redirect from the bridge back to the gate. */
const stopAtCallback = async (browser: Browser = createBrowser()): Promise<{ browser: Browser; callback: URL }> => {
  await browser.open(`${backend.url}/enter`, () => false);
  const { request } = await authorize();
  const page = await browser.open(request.url, (url) => !isCallback(url));
  return { browser, callback: new URL(page.location ?? '') };
};

const stranger = async (browser: Browser): Promise<boolean> =>
  (await browser.open((await authorize()).request.url, (url) => url.startsWith(world.origin))).location?.startsWith(
    backend.url,
  ) === true;

describe('the bridge', () => {
  it('signs a member in on the school’s own page, and an app gets what they approve', async () => {
    const { app, request } = await authorize();
    const browser = createBrowser();
    const login = await browser.open(request.url);
    expect(login.text).toContain('id="school-login"');
    const consent = await browser.submit(login, {});
    expect(consent.text).toContain('sam@school.test');
    expect(backend.asked?.get('login_hint')).toBe('sam@school.test');
    expect(backend.asked?.get('return_sso_url')).toBe(`${world.origin}/oauth/sign-in/callback/bridge`);
    const last = await browser.submit(
      consent,
      { decision: 'approve', scope: offeredScopes(consent) },
      (location) => !location.startsWith(app.redirectUri),
    );
    const tokens = await redeem(app, request, new URL(last.location ?? ''));
    const who = await fetch(`${world.origin}/api/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await who.json()).toMatchObject({
      sub: '1001',
      email: 'sam@school.test',
      email_verified: false,
      name: 'Sam Student',
    });
    const audited = readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"session_begun"'));
    expect(audited.map((line) => JSON.parse(line)['user.id'])).toContain('1001');
  });

  it('is not used again while the sign-in is valid, and is used again after it has expired', async () => {
    const { browser, callback } = await stopAtCallback();
    expect((await browser.open(callback.href)).text).toContain('id="consent"');
    const { request } = await authorize();
    const again = await browser.open(request.url, (url) => url.startsWith(world.origin));
    expect(again.text).toContain('id="consent"');
    ahead += 31 * 60_000;
    expect(await stranger(browser)).toBe(true);
  });

  it('is used again when the member switches accounts, and for prompt=login', async () => {
    ahead = -60_000;
    const { browser, callback } = await stopAtCallback();
    const consent = await browser.open(callback.href);
    const other = await browser.open(`${consent.url}/switch`, (url) => url.startsWith(world.origin));
    const asked = new URL(other.location ?? '');
    const payload = new URLSearchParams(Buffer.from(asked.searchParams.get('sso') ?? '', 'base64').toString());
    expect(payload.get('prompt')).toBe('select_account');
    ahead = 0;
    backend.says = { auth_time: String(Math.floor(Date.now() / 1000) + 1) };
    const { request } = await authorize({ prompt: 'login' });
    const stopped = await browser.open(request.url, (url) => url.startsWith(world.origin));
    expect(stopped.location).toContain(backend.url);
    expect((await browser.open(stopped.location ?? '')).text).toContain('id="consent"');
  });

  it('sets a host-only, HttpOnly cookie with a new value at each sign-in', async () => {
    const { browser, callback } = await stopAtCallback();
    browser.cookies.set('coursegate_member', { value: 'A'.repeat(43), path: '/' });
    const signedIn = await browser.open(callback.href, () => false);
    const [cookie = ''] = signedIn.headers.getSetCookie();
    expect(cookie).toMatch(/^coursegate_member=[\w-]{43}; Path=\/; Max-Age=1800; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain('A'.repeat(43));
  });

  it('ends the browser’s earlier session', async () => {
    ahead = -60_000;
    const { browser, callback } = await stopAtCallback();
    await browser.open(callback.href);
    const former = { ...browser.cookies.get('coursegate_member') } as { value: string; path: string };
    const { request } = await authorize({ prompt: 'login' });
    ahead = 0;
    await browser.open(request.url);
    expect(browser.cookies.get('coursegate_member')?.value).not.toBe(former.value);
    const thief = createBrowser();
    thief.cookies.set('coursegate_member', former);
    expect(await stranger(thief)).toBe(true);
  });

  const refused = async (browser: Browser, url: URL): Promise<Page> => {
    const page = await browser.open(url.href, () => false);
    expect(page.status).toBe(400);
    expect(page.text).toContain('id="error"');
    expect(browser.cookies.has('coursegate_member')).toBe(false);
    return page;
  };

  const resigned = (callback: URL, fields: (said: URLSearchParams) => void, secret = BRIDGE_SECRET): URL => {
    const said = new URLSearchParams(Buffer.from(callback.searchParams.get('sso') ?? '', 'base64').toString());
    fields(said);
    const url = new URL(callback);
    const sso = pack(Object.fromEntries(said));
    url.searchParams.set('sso', sso);
    url.searchParams.set('sig', sign(sso, secret));
    return url;
  };

  const withQuery = (url: URL, change: (query: URLSearchParams) => void): URL => {
    change(url.searchParams);
    return url;
  };

  it.each<[string, (callback: URL) => URL]>([
    ['signed with another secret', (url) => resigned(url, () => {}, 'another secret of the same length or so')],
    [
      'with the signature of the decoded text',
      (url) => {
        const text = Buffer.from(url.searchParams.get('sso') ?? '', 'base64').toString();
        url.searchParams.set('sig', sign(text));
        return url;
      },
    ],
    ['without a signature', (url) => withQuery(url, (query) => query.delete('sig'))],
    ['with two payloads', (url) => withQuery(url, (query) => query.append('sso', query.get('sso') ?? ''))],
    ['with an unknown nonce', (url) => resigned(url, (said) => said.set('nonce', 'x'.repeat(43)))],
    ['without a nonce', (url) => resigned(url, (said) => said.delete('nonce'))],
    ['at the callback of another sign-in', (url) => new URL(url.href.replace('/callback/bridge', '/callback/other'))],
  ])('refuses a response %s', async (_, broken) => {
    const { browser, callback } = await stopAtCallback();
    await refused(browser, broken(callback));
  });

  it('refuses a response a second time, after its lifetime, and in another browser', async () => {
    const first = await stopAtCallback();
    await first.browser.open(first.callback.href, () => false);
    first.browser.cookies.delete('coursegate_member');
    await refused(first.browser, first.callback);

    const late = await stopAtCallback();
    ahead += 11 * 60_000;
    await refused(late.browser, late.callback);

    const attacker = await stopAtCallback();
    const victim = await stopAtCallback();
    await refused(createBrowser(), attacker.callback);
    await refused(victim.browser, attacker.callback);
  });

  it.each(['', ' ', ' 1001', 'a\u0000b', 'x'.repeat(256), 'a\u200bb'])(
    'reports a failing sign-in for the member ID %j',
    async (external_id) => {
      const { browser, callback } = await stopAtCallback();
      const url = resigned(callback, (said) => said.set('external_id', external_id));
      const page = await browser.open(url.href, () => false);
      expect(page.status).toBe(503);
      expect(page.headers.get('retry-after')).toBeTruthy();
      expect(browser.cookies.has('coursegate_member')).toBe(false);
    },
  );

  it('ends connections and sign-ins in other browsers when it reports another version of the member', async () => {
    const signedInWith = async (version: string): Promise<Browser> => {
      backend.says = { version };
      const { browser, callback } = await stopAtCallback();
      expect((await browser.open(callback.href)).text).toContain('id="consent"');
      return browser;
    };
    const connect = async (browser: Browser): Promise<string> => {
      const { app, request } = await authorize();
      const consent = await browser.open(request.url);
      const last = await browser.submit(
        consent,
        { decision: 'approve', scope: offeredScopes(consent) },
        (location) => !location.startsWith(app.redirectUri),
      );
      return (await redeem(app, request, new URL(last.location ?? ''))).access_token;
    };
    const answers = async (token: string) =>
      (await fetch(`${world.origin}/api/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;

    const before = await signedInWith('password of May');
    const token = await connect(before);
    const same = await signedInWith('password of May');
    expect([await answers(token), await stranger(before), await stranger(same)]).toEqual([200, false, false]);

    const after = await signedInWith('password of June');
    expect([await answers(token), await stranger(before), await stranger(same)]).toEqual([401, true, true]);
    expect([await answers(await connect(after)), await stranger(after)]).toEqual([200, false]);
  });

  it('leads to a page with a choice when the member did not sign in', async () => {
    const { browser, callback } = await stopAtCallback();
    const page = await browser.open(resigned(callback, (said) => said.set('failed', 'true')).href);
    expect(page.status).toBe(200);
    expect(page.text).toContain('id="login"');
  });

  it.each([
    '//evil.test',
    'https://evil.test/',
    '/\\evil.test',
    '/oauth/../evil',
    '/oauth//evil.test',
    '/%2f/evil.test',
    '/oauth/\tevil',
    '/account',
    '',
    '/oauth/interaction/x?a=b#c',
  ])('returns only to the gate’s own pages: %j', async (returnTo) => {
    const url = new URL(`${world.origin}/oauth/sign-in`);
    url.searchParams.set('return_to', returnTo);
    expect((await createBrowser().open(url.href, () => false)).status).toBe(400);
  });

  it('refuses POST', async () => {
    const answer = await fetch(`${world.origin}/oauth/sign-in?return_to=/oauth/interaction/x`, { method: 'POST' });
    expect(answer.status).toBe(405);
  });
});
