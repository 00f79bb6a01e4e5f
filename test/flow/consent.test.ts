import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { OLU, offeredScopes, reachConsent, SAM, signIn } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

describe('the consent page', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  const toApp = (location: string) => !location.startsWith(app.redirectUri);
  const open = async (by = app, parameters: Record<string, string> = {}) => {
    const request = await authorizationRequest(by, parameters);
    return { request, ...(await reachConsent(request.url)) };
  };
  const csrfOf = (page: Page) => /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  const post = (
    browser: Browser,
    url: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(fields),
      headers: {
        accept: 'text/html',
        cookie: [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; '),
        ...headers,
      },
    });

  const expectErrorPage = (page: { status: number; text: string; location?: string | undefined }, status: number) => {
    expect(page.status).toBe(status);
    expect(page.location).toBeUndefined();
    expect(page.text).toContain('<main id="error">');
    expect(page.text).not.toMatch(/\bat \S+:\d|node_modules|\/src\//);
  };

  it('says who asks, for whom, what for and where it leads', async () => {
    const { page } = await open();
    expect(page.status).toBe(200);
    expect(page.text).toContain('<main id="consent">');
    for (const words of ['Test App', 'Harbour Lane School', 'student@example.com', 'app.example', 'See courses']) {
      expect(page.text).toContain(words);
    }
    expect(offeredScopes(page)).toEqual(['profile', 'email', 'account:read', 'courses:read']);
  });

  it('runs nothing, is framed by nobody, kept nowhere, and needs no script', async () => {
    const { page } = await open();
    const { headers } = page;
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).toMatch(/base-uri 'none'/);
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|form-action|script-src/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(page.text).not.toMatch(/<script|style=|\son\w+=/);
  });

  it('shows markup in the name of an app as text', async () => {
    const name = '</h1><script>alert(1)</script><img src=x onerror=alert(1)> & "quotes"';
    const { page } = await open(await registerApp(world.origin, { metadata: { client_name: name } }));
    expect(page.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &amp;');
    expect(page.text).not.toMatch(/<script|<img/);
  });

  it('denied, sends the member back with access_denied, state and iss', async () => {
    const { request, browser, page } = await open();
    const { location } = await browser.submit(page, { decision: 'deny' }, toApp);
    const returned = new URL(location ?? '');
    expect(returned.origin + returned.pathname).toBe('https://app.example/callback');
    expect(returned.searchParams.get('error')).toBe('access_denied');
    expect(returned.searchParams.get('state')).toBe(request.state);
    expect(returned.searchParams.get('iss')).toBe(world.origin);
    expect(returned.searchParams.has('code')).toBe(false);
  });

  it('approved, sends the member back by GET, telling nobody where from', async () => {
    const { request, browser, page } = await open();
    const last = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp);
    expect(last.status).toBe(303);
    expect(last.headers.get('referrer-policy')).toBe('no-referrer');
    expect(last.headers.get('cache-control')).toBe('no-store');
    const returned = new URL(last.location ?? '');
    expect([...returned.searchParams.keys()]).toEqual(['code', 'state', 'iss']);
    expect((await redeem(app, request, returned)).scope).toBe('openid courses:read');
  });

  it('grants what was asked and ticked, and nothing that a form adds', async () => {
    const { request, browser, page } = await open(app, { scope: 'openid courses:read orders:read' });
    const scope = ['courses:read', 'courses:write', 'nonsense'];
    const last = await browser.submit(page, { decision: 'approve', scope }, toApp);
    const { scope: granted, access_token: token } = await redeem(app, request, new URL(last.location ?? ''));
    expect(granted).toBe('openid courses:read');
    expect((await fetch(`${world.origin}/api/v1/orders`, { headers: bearer(token) })).status).toBe(403);
  });

  it('approved with nothing ticked asks again', async () => {
    const { browser, page } = await open(app, { scope: 'courses:read' });
    const again = await browser.submit(page, { decision: 'approve' }, toApp);
    expect(again.status).toBe(400);
    expect(again.text).toContain('<main id="consent">');
    expect(again.text).toContain('role="alert"');
  });

  it.each<[string, (csrf: string) => Record<string, string>]>([
    ['no CSRF token', () => ({ decision: 'approve', scope: 'courses:read' })],
    ['a wrong one', (csrf) => ({ decision: 'approve', scope: 'courses:read', csrf: `${csrf.slice(0, -1)}!` })],
    ['a short one', () => ({ decision: 'approve', scope: 'courses:read', csrf: 'x' })],
    ['no CSRF token, denying', () => ({ decision: 'deny' })],
    ['no decision', (csrf) => ({ scope: 'courses:read', csrf })],
    ['another decision', (csrf) => ({ decision: 'yes', scope: 'courses:read', csrf })],
  ])('posted with %s decides nothing, and is shown again', async (_name, fields) => {
    const { browser, page } = await open();
    const answer = await post(browser, page.url, fields(csrfOf(page)));
    expect(answer.status).toBe(303);
    expect(new URL(answer.headers.get('location') ?? '', page.url).href).toBe(page.url);
    expect((await browser.open(page.url)).text).toContain('<main id="consent">');
  });

  it('takes no CSRF token of another interaction', async () => {
    const one = await open();
    const two = await open();
    const fields = { decision: 'approve', scope: 'courses:read', csrf: csrfOf(one.page) };
    const answer = await post(two.browser, two.page.url, fields);
    expect(new URL(answer.headers.get('location') ?? '', two.page.url).href).toBe(two.page.url);
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.test' },
    { origin: 'null' },
  ] as Record<string, string>[])('posted with %o is refused', async (headers) => {
    const { browser, page } = await open();
    const fields = { decision: 'approve', scope: 'courses:read', csrf: csrfOf(page) };
    const answer = await post(browser, page.url, fields, headers);
    expectErrorPage({ status: answer.status, text: await answer.text() }, 403);
  });

  it('is a page of the browser that began, and of no other', async () => {
    const { page } = await open();
    const stranger = createBrowser();
    await signIn(stranger, world.origin, OLU);
    expectErrorPage(await stranger.open(page.url), 400);
    expectErrorPage(await stranger.open(`${page.url}/return`), 400);
    const fields = { decision: 'approve', scope: 'courses:read', csrf: csrfOf(page) };
    const answer = await post(stranger, page.url, fields);
    expectErrorPage({ status: answer.status, text: await answer.text() }, 400);
  });

  it('is over once it is answered', async () => {
    const { browser, page } = await open();
    await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp);
    expectErrorPage(await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp), 400);
    expectErrorPage(await browser.open(page.url), 400);
    const resumed = await browser.open(page.url.replace('/interaction/', '/authorize/'), toApp);
    expectErrorPage(resumed, 400);
  });

  it('too large is refused', async () => {
    const { browser, page } = await open();
    const answer = await post(browser, page.url, { pad: 'x'.repeat(17 * 1024) });
    expectErrorPage({ status: answer.status, text: await answer.text() }, 413);
  });

  it('open for one member while another signs in is asked anew, and never answered for either', async () => {
    const { request, browser, page } = await open();
    expect(page.text).toContain(SAM.login);
    await signIn(browser, world.origin, OLU);

    const asked = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toApp);
    expect(asked.location).toBeUndefined();
    expect(asked.text).toContain('<main id="consent">');
    expect(asked.text).toContain(OLU.login);
    expect(asked.text).not.toContain(SAM.login);

    const last = await browser.submit(asked, { decision: 'approve', scope: 'courses:read' }, toApp);
    const { access_token: token } = await redeem(app, request, new URL(last.location ?? ''));
    const who = await fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(token) });
    expect(await who.json()).toEqual({ sub: 'm-1002' });
  });
});
