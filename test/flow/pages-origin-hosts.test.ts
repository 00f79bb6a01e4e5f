import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type App, authorizationRequest, bearer, postForm, redeem, registerApp } from '../support/app.ts';
import { createBrowser, type Page } from '../support/browser.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { type Command, runCommand } from '../support/command.ts';
import { offeredScopes } from '../support/member.ts';
import { rawExchange } from '../support/raw-socket.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort } from '../support/world.ts';

const LONGEST = 240_000;
/** The password is `ann’s`. */
const MEMBERS = `members:
  - { id: ann, login: ann, password: "$2y$05$VshtfdHkltNOk95REYZwL.TzpHFYMA0WtRLLfLxvy7T3jbglX33eG" }
`;
const TOOLS = `tools:
  - name: list_courses
    title: List courses
    description: Lists the courses of the school.
    get: { upstream: school, path: /api/v1/courses }
    result: { ok: /ok }
    output: { properties: { ok: { type: boolean } } }
`;

/** A gate that is started as operators do, from a file, with its pages at a host of their own. */
describe('a gate whose file has pages.origin', () => {
  let folder: string;
  let upstream: RecordingUpstream;
  let gate: Command;
  let port: number;
  let origin: string;
  let pages: string;
  let app: App;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-pages-'));
    upstream = await startRecordingUpstream();
    port = await freePort();
    origin = `http://localhost:${port}`;
    pages = `http://127.0.0.1:${port}`;
    const file = join(folder, 'coursegate.yaml');
    writeFileSync(join(folder, 'members.yaml'), MEMBERS);
    writeFileSync(join(folder, 'tools.yaml'), TOOLS);
    writeFileSync(
      file,
      `version: 1
profile: B
origin: ${origin}
name: Harbour Lane School
pages: { origin: "${pages}", apps: { back: /account } }
listen: { port: ${port}, admin: { port: 0 } }
store: { kind: memory }
limits: { address: unlimited, member: unlimited, client: unlimited, attempts: unlimited }
login: { kind: directory, file: members.yaml }
upstreams: { school: { url: "${upstream.url}" } }
site: { upstream: school }
mcp: { file: tools.yaml }
scopes: { "courses:read": { title: Browse the course catalogue } }
routes:
  - { match: "GET /api/v1/courses/**", upstream: school, scopes: ["courses:read"], anonymous: refuse }
`,
    );
    gate = runCommand(['serve', '--config', file]);
    await gate.line(/^coursegate ready/);
    app = await registerApp(origin);
  }, LONGEST);
  afterAll(async () => {
    gate?.signal('SIGTERM');
    expect(await gate?.exited).toBe(0);
    await upstream?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const asked = () => authorizationRequest(app, { scope: 'openid courses:read' });
  const manual = (url: string, init: RequestInit = {}) =>
    fetch(url, { redirect: 'manual', ...init, headers: { accept: 'text/html', ...init.headers } });
  const whereTo = (answer: Response, base: string) => new URL(answer.headers.get('location') ?? '', base).href;

  /** Signs ann in, and approves all; returns where the browser is then sent. */
  const approve = async (signIn: Page, browser = createBrowser()) => {
    const consent = await browser.submit(signIn, { username: 'ann', password: 'ann’s' });
    expect(new URL(consent.url).origin).toBe(pages);
    expect(consent.text).toContain('<main id="consent">');
    const fields = { decision: 'approve', scope: offeredScopes(consent) };
    const last = await browser.submit(consent, fields, (location) => !location.startsWith(app.redirectUri));
    return new URL(last.location ?? '');
  };

  /** A code that no one has redeemed. */
  const freshCode = async () => {
    const [browser, request] = [createBrowser(), await asked()];
    return { request, returned: await approve(await browser.open(request.url), browser) };
  };

  it('serves the endpoints and the site at the one, and the pages at the other', { timeout: LONGEST }, async () => {
    expect(gate.stdout()).toBe(`coursegate ready ${origin} profile=B\n`);
    const { request, returned } = await freshCode();
    expect(returned.searchParams.get('iss')).toBe(origin);
    const { access_token } = await redeem(app, request, returned);
    const courses = await fetch(`${origin}/api/v1/courses/7`, { headers: bearer(access_token) });
    expect([courses.status, upstream.last().target, upstream.last().values('x-member-id')]).toEqual([
      200,
      '/api/v1/courses/7',
      ['ann'],
    ]);
    expect((await fetch(`${origin}/about`)).status).toBe(200);
    expect(upstream.last().target).toBe('/about');
  });

  it('answers no endpoint at the host of the pages, with whatever credential', { timeout: LONGEST }, async () => {
    const { request, returned } = await freshCode();
    const { access_token: token } = await redeem(app, request, returned);
    const unused = await freshCode();
    const client_id = String(app.client.client_id);
    const before = upstream.requests.length;
    const json = (body: object, more = {}) => ({
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
    });
    const form = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) });
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_courses', arguments: {} } };
    const redeemed = {
      ...{ grant_type: 'authorization_code', client_id, redirect_uri: app.redirectUri },
      ...{ code: unused.returned.searchParams.get('code') ?? '', code_verifier: unused.request.verifier },
    };
    const sent: readonly (readonly [string, RequestInit])[] = [
      ['/api/v1/courses/7', { headers: bearer(token) }],
      ['/api/oauth/userinfo', { headers: bearer(token) }],
      ['/mcp', json(call, bearer(token))],
      ['/mcp/member', json(call, bearer(token))],
      ['/mcp', json(call)],
      ['/api/oauth/token', form(redeemed)],
      ['/api/oauth/revoke', form({ client_id, token })],
      ['/api/oauth/introspect', form({ client_id, token })],
      ['/api/oauth/par', form({ client_id, response_type: 'code' })],
      ['/api/oauth/register', json({ client_name: 'At the pages', redirect_uris: ['https://app.example/callback'] })],
      ['/.well-known/oauth-protected-resource', {}],
      ['/.well-known/openid-configuration', {}],
      ['/.well-known/jwks.json', {}],
      ['/account', {}],
    ];
    for (const [path, init] of sent) {
      const answer = await fetch(pages + path, init);
      expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([path, 404, null]);
    }
    expect(upstream.requests.length).toBe(before);
    // Nothing of it had an effect: the token and the code are as good as before.
    expect((await fetch(`${origin}/api/v1/courses/7`, { headers: bearer(token) })).status).toBe(200);
    expect((await postForm(app.server.token_endpoint, redeemed)).status).toBe(200);
  });

  it('opens no WebSocket at the host of the pages', { timeout: LONGEST }, async () => {
    const { request, returned } = await freshCode();
    const { access_token } = await redeem(app, request, returned);
    const before = upstream.requests.length;
    const refusal = (url: string, headers = {}) =>
      new Promise((resolve) => {
        const socket = new WebSocket(url.replace('http', 'ws'), { headers });
        socket.once('unexpected-response', (_, response) => resolve(response.statusCode));
        socket.once('error', () => resolve('closed'));
        socket.once('open', () => resolve('open'));
      });
    for (const path of ['/ws', '/', '/api/v1/courses/7', '/mcp', '/api/oauth/token', '/oauth/apps', '/oauth/sign-in'])
      for (const headers of [{}, bearer(access_token)])
        expect([path, await refusal(pages + path, headers)]).toEqual([path, 404]);
    expect(upstream.requests.length).toBe(before);
    // At the origin it reaches the site, which closes the connection.
    expect(await refusal(`${origin}/ws`)).toBe(502);
    expect(upstream.last().target).toBe('/ws');
  });

  it.each([
    ['/oauth/sign-in?x=1', 303],
    ['/oauth/interaction/x', 303],
    ['/oauth/interaction/x/return', 303],
    ['/oauth/interaction/x/switch', 303],
    ['/oauth/authorize/x', 303],
    ['/oauth/apps', 303],
    ['/oauth/apps/return', 303],
    ['/oauth/apps/app?id=x', 303],
    ['/oauth/apps/disconnect?id=x', 303],
    ['/oauth/assets/pages.css', 200],
  ])('answers GET %s at the origin with %i', async (path, status) => {
    const answer = await manual(origin + path);
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []]);
    if (status === 303) expect(whereTo(answer, origin)).toBe(pages + path);
  });

  it.each(['/oauth/sign-in', '/oauth/interaction/x', '/oauth/apps/disconnect'])(
    'refuses a form that is posted to %s at the origin',
    async (path) => {
      const answer = await manual(origin + path, { method: 'POST', body: new URLSearchParams({ csrf: 'x' }) });
      expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([403, null, []]);
      expect(await answer.text()).toContain('<main id="error">');
    },
  );

  it('takes the host from Host alone', async () => {
    const [{ host }, { host: site }] = [new URL(pages), new URL(origin)];
    const before = upstream.requests.length;
    const status = async (target: string, ...fields: readonly string[]) => {
      const lines = [`GET ${target} HTTP/1.1`, ...fields, 'Connection: close', '', ''];
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(await rawExchange(port, lines.join('\r\n')))?.[1]);
    };
    expect(await status('/about', `Host: ${host}`)).toBe(404);
    expect(await status('/about', `Host: ${host.toUpperCase()}`, `X-Forwarded-Host: ${site}`)).toBe(404);
    expect(await status(`${origin}/about`, `Host: ${host}`)).toBe(404);
    expect(await status('/about', `Host: ${host}`, `Host: ${site}`)).toBe(400);
    expect(await status(`${pages}/oauth/apps`, `Host: ${site}`)).toBe(400);
    expect(upstream.requests.length).toBe(before);
    expect(await status('/oauth/apps', `Host: ${site}`, `X-Forwarded-Host: ${host}`)).toBe(303);
  });

  it('takes an authorization request that is posted, as one that is sent by GET', async () => {
    const [browser, request] = [createBrowser(), await asked()];
    const { origin: at, pathname, searchParams: fields } = new URL(request.url);
    const first = await manual(at + pathname, { method: 'POST', body: fields });
    expect([first.status, whereTo(first, at)]).toEqual([307, pages + pathname]);
    const second = await manual(pages + pathname, { method: 'POST', body: fields });
    expect([second.status, whereTo(second, pages)]).toEqual([303, `${pages}${pathname}?${fields}`]);
    expect([...first.headers.getSetCookie(), ...second.headers.getSetCookie()]).toEqual([]);
    const returned = await approve(await browser.open(whereTo(second, pages)), browser);
    expect((await redeem(app, request, returned)).access_token).toBeTruthy();
  });

  it.skipIf(!browserPresent())('takes it from a form in a browser', { timeout: LONGEST }, async () => {
    const own = await registerApp(origin, { redirectUri: 'http://127.0.0.1:9/callback' });
    const request = await authorizationRequest(own, { scope: 'openid courses:read' });
    const { origin: at, pathname, searchParams } = new URL(request.url);
    const inputs = [...searchParams].map(([name, value]) => `<input name="${name}" value="${value}">`).join('');
    const body = `<!doctype html><form method="post" action="${at}${pathname}">${inputs}<button>Connect</button></form>`;
    const browser = await launchChromium();
    try {
      const context = await browser.newContext();
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      await page.route('http://127.0.0.1:9/**', (route) => route.fulfill({ contentType: 'text/html', body }));
      await page.goto('http://127.0.0.1:9/');
      await page.locator('button').click();
      expect(await page.locator('main').getAttribute('id')).toBe('sign-in');
      await page.fill('[name=username]', 'ann');
      await page.fill('[name=password]', 'ann’s');
      await page.locator('main#sign-in .fields button').click();
      await page.locator('main#consent').waitFor();
      expect(new URL(page.url()).origin).toBe(pages);
      const arrived = page.waitForRequest((one) => one.url().startsWith(own.redirectUri));
      await page.locator('button[value=approve]').click();
      expect((await redeem(own, request, new URL((await arrived).url()))).access_token).toBeTruthy();
      // The link back to the school leads to the site, at the other host.
      const apps = await context.newPage();
      await apps.goto(`${pages}/oauth/apps`);
      const links = await apps
        .locator('a[href]')
        .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href));
      expect(links).toContain(`${origin}/account`);
      expect(links.filter((link) => link.startsWith(pages) && !link.startsWith(`${pages}/oauth/apps`))).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
