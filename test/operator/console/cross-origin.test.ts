import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { privateHost, signLink } from '../../../src/operator/console/link.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { freePort, type World } from '../../support/world.ts';
import { ask, browseConsole, type ConsoleSession, csrfOf, openConsole, startConsoleWorld } from './support/console.ts';

const HMAC = (secret: string, previous?: string) => ({
  admin: { hmac: { secret: { env: secret }, ...(previous === undefined ? {} : { previous: { env: previous } }) } },
});
const NEXT = 'the-next-secret-that-both-of-them-share';

let world: World;
let probes: string;
let session: ConsoleSession;
let csrf: string;
beforeAll(async () => {
  const port = await freePort();
  probes = `http://127.0.0.1:${port}`;
  world = await startConsoleWorld({
    environment: { NEXT },
    overrides: { ...HMAC('COMMAND_SECRET'), listen: { probes: { host: '127.0.0.1', port } } },
  });
  session = await openConsole(world);
  csrf = csrfOf((await session.get('/console')).text);
});
afterAll(() => world.close());

const PATHS = ['/console', '/console/keys', '/console/sign-in', '/console/console.css'];
const port = () => new URL(world.admin).port;
/** A form with the session's cookie and token, as if a page had stolen the token. */
const post = (headers: Record<string, string>, path = '/console/sign-out') =>
  ask(world.admin, path, { method: 'POST', form: { csrf }, headers: { cookie: session.cookie, ...headers } });
const isOpen = async () => (await session.get('/console')).status === 200;

describe('nothing of the console is cross-origin', () => {
  it.each([
    'evil.example',
    'evil.example:9090',
    '127.0.0.1.nip.io',
    'console.localhost.evil.example',
    '127.0.0.1@evil',
  ])('not for a page that DNS rebinding makes its own: Host %s', async (host) => {
    const headers = { host, cookie: session.cookie, 'sec-fetch-site': 'same-origin' };
    for (const path of PATHS) {
      const { status, cookies, text } = await ask(world.admin, path, { headers });
      expect([path, status, cookies]).toEqual([path, 421, []]);
      expect(text).not.toContain('Harbour Lane');
    }
    expect((await post({ host, origin: `http://${host}` })).status).toBe(421);
    const form = { secret: COMMAND_SECRET };
    const entered = await ask(world.admin, '/console/sign-in', { method: 'POST', form, headers: { host } });
    expect([entered.status, entered.cookies]).toEqual([421, []]);
    expect(await isOpen()).toBe(true);
  });

  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another site, in a browser without Sec-Fetch-Site', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': 'same-site' }],
    ['another port, in a browser without Sec-Fetch-Site', { origin: 'http://127.0.0.1:3000', 'sec-fetch-site': '' }],
    ['another name of this machine', { origin: 'http://localhost', 'sec-fetch-site': 'cross-site' }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['a page over TLS', { origin: 'https://127.0.0.1', 'sec-fetch-site': '' }],
    ['nowhere', { origin: '', 'sec-fetch-site': '' }],
    ['the address bar', { origin: '', 'sec-fetch-site': 'none' }],
  ])('not for a form of %s', async (_from, headers) => {
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const bare = { method: 'POST', bare: true, headers: { cookie: session.cookie, ...sent } };
    expect((await ask(world.admin, '/console/sign-out', { ...bare, form: { csrf } })).status).toBe(403);
    const entered = await ask(world.admin, '/console/sign-in', { ...bare, form: { secret: COMMAND_SECRET } });
    expect([entered.status, entered.cookies]).toEqual([403, []]);
    expect(await isOpen()).toBe(true);
  });

  it.each([
    ['no token', {}],
    ['an empty token', { csrf: '' }],
    ['another token', { csrf: 'x'.repeat(43) }],
  ])('not for its own page with %s', async (_what, form) => {
    const headers = { cookie: session.cookie };
    expect((await ask(world.admin, '/console/sign-out', { method: 'POST', form, headers })).status).toBe(403);
    expect(await isOpen()).toBe(true);
  });

  it('not with the token of another session', async () => {
    const other = await openConsole(world);
    const form = { csrf: csrfOf((await other.get('/console')).text) };
    const headers = { cookie: session.cookie };
    expect((await ask(world.admin, '/console/sign-out', { method: 'POST', form, headers })).status).toBe(403);
  });

  it.each([
    ['an iframe', 'same-origin', 'navigate', 'iframe'],
    ['an iframe of another site', 'cross-site', 'navigate', 'iframe'],
    ['a script’s fetch', 'same-origin', 'cors', 'empty'],
    ['a script’s fetch at another port', 'same-site', 'cors', 'empty'],
    ['an image', 'cross-site', 'no-cors', 'image'],
    ['a script', 'same-site', 'no-cors', 'script'],
  ])('not in %s', async (_where, site, mode, dest) => {
    const fields = { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest };
    for (const path of ['/console', '/console/sign-in']) {
      const { status, text } = await session.get(path, fields);
      expect([path, status, text.includes('csrf')]).toEqual([path, 403, false]);
    }
  });

  it.each(['cross-site', 'same-site'])('not by a link of a %s page, which leads to the sign-in form', async (site) => {
    const fields = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    const { status, location, text } = await session.get('/console/keys', fields);
    expect([status, location, text]).toEqual([303, '/console/sign-in?to=%2Fconsole%2Fkeys', '']);
    const form = await session.get(location ?? '', fields);
    expect(form.text).toContain('Already signed in? <a href="/console/keys">');
  });

  it('not on the probes listener', async () => {
    for (const path of [...PATHS, '/']) expect((await ask(probes, path)).status).toBe(404);
  });
});

describe('a session is worth nothing', () => {
  it('for the commands, which stay as strict as before', async () => {
    const headers = { cookie: session.cookie };
    for (const path of ['/keys/rotate', '/members/m-1001/revoke', '/events/retry']) {
      expect((await ask(world.admin, path, { method: 'POST', headers })).status).toBe(403);
      expect((await ask(world.admin, path, { method: 'POST', headers, bare: true })).status).toBe(401);
    }
    for (const path of ['/metrics', '/members', '//console', '/Console', '/console%2Fkeys', '/consoles']) {
      const { status } = await ask(world.admin, path, { headers: { ...headers, origin: world.admin } });
      expect([path, status]).toEqual([path, 403]);
    }
  });

  it('when a character of its cookie is changed', async () => {
    const [name = '', value = ''] = session.cookie.split('=');
    for (let at = 0; at < value.length; at += 7) {
      const changed = value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1);
      const { status } = await ask(world.admin, '/console', { headers: { cookie: `${name}=${changed}` } });
      expect([at, status]).toEqual([at, 303]);
    }
    for (const other of ['', '.', 'x', `${value}.`, `${value}x`, value.repeat(10), value.split('.')[0]])
      expect((await ask(world.admin, '/console', { headers: { cookie: `${name}=${other}` } })).status).toBe(303);
    // Another program at this host name may have set a cookie of this name beside it.
    const tossed = await ask(world.admin, '/console', { headers: { cookie: `${name}=x; ${session.cookie}` } });
    expect(tossed.status).toBe(200);
    for (const [many, wanted] of [
      [3, 200],
      [4, 303],
    ] as const) {
      const cookie = `${`${name}=x; `.repeat(many)}${session.cookie}`;
      expect((await ask(world.admin, '/console', { headers: { cookie } })).status).toBe(wanted);
    }
  });

  it('at another gate with the same admin secret', async () => {
    const other = await startConsoleWorld();
    const [, value] = session.cookie.split('=');
    const [name] = (await openConsole(other)).cookie.split('=');
    expect(name).not.toBe(session.cookie.split('=')[0]);
    for (const cookie of [session.cookie, `${name}=${value}`])
      expect((await ask(other.admin, '/console', { headers: { cookie } })).status).toBe(303);
    await other.close();
  });

  it('once its secret is no longer accepted', async () => {
    const listen = { probes: { host: '127.0.0.1', port: Number(new URL(probes).port) } };
    await world.reload({ ...HMAC('NEXT', 'COMMAND_SECRET'), listen });
    expect(await isOpen()).toBe(true);
    // A link with its secret leads in at once. One with the other secret opens another session, and a bad one none.
    const link = (secret: string) =>
      session.get(`/console/sign-in?to=/console/keys&link=${signLink(secret, Math.floor(Date.now() / 1000))}`);
    expect(await link(COMMAND_SECRET)).toMatchObject({ status: 303, location: '/console/keys' });
    expect(await link(NEXT)).toMatchObject({ status: 200, text: expect.stringContaining('name="link"') });
    expect((await link('a-secret-that-is-accepted-nowhere')).status).toBe(401);
    await world.reload({ ...HMAC('NEXT'), listen });
    expect(await isOpen()).toBe(false);
    await world.reload({ ...HMAC('COMMAND_SECRET'), listen });
    expect(await isOpen()).toBe(true);
  });

  it('after signing out, also as a copy and after a restart', async () => {
    const other = await openConsole(world);
    expect((await other.post('/console/sign-out')).status).toBe(200);
    expect((await other.get('/console')).status).toBe(303);
    await world.restart();
    expect((await other.get('/console')).status).toBe(303);
    expect(await isOpen()).toBe(true);
  });
});

describe.runIf(browserPresent())('in Chromium', () => {
  let browser: Browser;
  let neighbour: Server;
  /** What another program of this machine is sent. */
  const seen: IncomingMessage[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
    neighbour = createServer((request, response) => {
      seen.push(request);
      response.setHeader('content-type', 'text/html').end(`<!doctype html>
<iframe src="${world.admin}/console"></iframe>
<img src="${world.admin}/console/console.css" alt="">
<form method="post" action="${world.admin}/console/sign-out"><input name="csrf" value="${csrf}"><button>Win</button></form>
<a href="${world.admin}/console/">A link</a>`);
    }).listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await browser.close();
    neighbour.close();
  });
  const neighbourAt = (host: string) => `http://${host}:${(neighbour.address() as AddressInfo).port}`;
  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();

  it('a page at another port cannot frame it, read it, post to it or link into it', async () => {
    const page = await browseConsole(browser, world);
    await page.goto(`${neighbourAt('127.0.0.1')}/attack`);
    const frame = page.frames()[1];
    expect(await frame?.evaluate('document.body?.innerText ?? ""').catch(() => '')).not.toContain('Overview');
    const read = `fetch('${world.admin}/console', { credentials: 'include' }).then((answer) => answer.text(), String)`;
    expect(await page.evaluate(read)).toContain('Failed to fetch');

    await page.getByText('A link').click();
    expect(await heading(page)).toBe('Sign in to the console');
    await page.getByText('Continue to the console').click();
    expect(await heading(page)).toBe('Not found');

    await page.goto(`${neighbourAt('127.0.0.1')}/attack`);
    await page.getByText('Win').click();
    expect(await heading(page)).toBe('Not allowed');
    await page.goto(`${world.admin}/console`);
    expect(await heading(page)).toBe('Overview');
    await page.context().close();
  });

  it('a link of the command opens it under a name whose cookie no other port of this machine is sent', async () => {
    const page = await browser.newPage();
    const link = signLink(COMMAND_SECRET, Math.floor(Date.now() / 1000));
    const host = privateHost(COMMAND_SECRET);
    expect(host).toMatch(/^console-[0-9a-f]{20}\.localhost$/);
    await page.goto(`http://${host}:${port()}/console/sign-in?link=${link}`);
    await page.getByRole('button', { name: 'Open the console' }).click();
    expect(await heading(page)).toBe('Overview');

    seen.length = 0;
    for (const name of ['127.0.0.1', 'localhost', 'console.localhost'])
      await page.goto(`${neighbourAt(name)}/console/steal`);
    expect(seen.filter(({ headers }) => headers.cookie !== undefined)).toEqual([]);
    expect(seen.filter(({ url }) => url === '/console/steal')).toHaveLength(3);
    await page.close();
  });
});
