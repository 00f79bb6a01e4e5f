import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { startWorld, type World } from '../support/world.ts';

const LONGEST = 240_000;
/** A member of a directory. The password is `ann’s`, hashed at low cost. */
const MEMBERS = `members:
  - { id: ann, login: ann, password: "$2y$05$VshtfdHkltNOk95REYZwL.TzpHFYMA0WtRLLfLxvy7T3jbglX33eG" }
`;

/** The service worker of the site: passes everything on, or attacks. */
let worker: string;

const PASS_ON = 'self.addEventListener("fetch", (event) => event.respondWith(fetch(event.request)));';
/** Takes the protection against frames off the pages, so that a hidden frame shows them to a script of the site. */
const UNFRAME = `self.addEventListener("fetch", (event) => event.respondWith((async () => {
  const answer = await fetch(event.request);
  if (event.request.mode !== "navigate" || answer.type === "opaqueredirect") return answer;
  const headers = new Headers(answer.headers);
  headers.delete("x-frame-options");
  headers.delete("content-security-policy");
  return new Response(await answer.text(), { status: answer.status, headers });
})()));`;

/**
 * A legacy site with a session cookie. Its page `/course` stands for one into which an attacker has brought a script,
 * and `/worker.js` for a script file that they could place.
 */
const site: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://site');
  const member = /(?:^|; )site_session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  const html = { 'content-type': 'text/html' };
  if (pathname === '/me') {
    response.writeHead(member === undefined ? 401 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: member, email: `${member}@school.example`, name: member }));
  } else if (pathname === '/worker.js') {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(worker);
  } else if (pathname === '/enter') {
    const to = searchParams.get('return_to') ?? '/';
    response.writeHead(303, { 'set-cookie': 'site_session=sam; Path=/; HttpOnly', location: to }).end();
  } else if (pathname === '/login') {
    const to = encodeURIComponent(searchParams.get('return_to') ?? '');
    response.writeHead(200, html).end(`<main id="site-login"><a href="/enter?return_to=${to}">Sign in</a></main>`);
  } else response.writeHead(200, html).end('<!doctype html><title>Course</title><h1>Course</h1>');
};

const LOGIN = {
  kind: 'session',
  upstream: 'legacy',
  whoami: { path: '/me' },
  loginUrl: '/login',
  returnParam: 'return_to',
  cookies: ['site_session'],
};

interface Case {
  readonly title: string;
  readonly apart?: true;
  readonly refuse?: true;
  readonly login: 'session' | 'directory';
}

describe.skipIf(!browserPresent()).each<Case>([
  { title: 'pages at the origin of the site', login: 'session' },
  { title: 'pages at the origin of the site that open through no service worker', login: 'session', refuse: true },
  { title: 'pages at pages.origin, with the session of the site', login: 'session', apart: true },
  { title: 'pages at pages.origin, with a directory', login: 'directory', apart: true },
])('$title', ({ apart, refuse, login }) => {
  let legacy: Server;
  let world: World;
  let browser: Browser;
  let pagesOrigin: string;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-site-script-'));
    const file = join(folder, 'members.yaml');
    writeFileSync(file, MEMBERS);
    worker = PASS_ON;
    browser = await launchChromium();
    legacy = createServer(site);
    await new Promise<void>((done) => legacy.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(legacy.address() as AddressInfo).port}`;
    world = await startWorld({
      profile: 'A',
      accessDescriptor: openSync(join(folder, 'access'), 'a'),
      adjust: (config) => {
        const { port } = new URL(config.origin);
        pagesOrigin = apart ? `http://127.0.0.1:${port}` : config.origin;
        return { ...config, pages: { ...config.pages, ...(apart ? { origin: pagesOrigin } : {}) } };
      },
      overrides: {
        upstreams: { legacy: { url } },
        site: { upstream: 'legacy' },
        log: { access: true },
        ...(login === 'session' ? { login: LOGIN } : { login: { kind: 'directory', file } }),
        pages: refuse ? { serviceWorkers: 'refuse' } : {},
      },
    });
  }, LONGEST);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    legacy?.close();
    rmSync(folder, { recursive: true });
  });

  /** A browser whose member is signed in at the site, with the page of the site that an attacker controls. */
  const visit = async (): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await browser.newContext();
    context.setDefaultTimeout(15_000);
    // The apps.
    await context.route('http://127.0.0.1:9/**', (route) => route.fulfill({ body: 'connected' }));
    const page = await context.newPage();
    await page.goto(`${world.origin}/enter?return_to=/course`);
    return { context, page };
  };

  const install = async (page: Page, script: string) => {
    worker = script;
    await page.evaluate(async () => {
      await navigator.serviceWorker.register('/worker.js');
      await navigator.serviceWorker.ready;
    });
    await page.reload();
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  };

  /** The status of each request for a page so far. A script cannot read it from the other host. */
  const statuses = () =>
    readFileSync(join(folder, 'access'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"/oauth/'))
      .map((line) => (JSON.parse(line) as { status: number }).status);

  /** Connects an app as a member does. */
  const honest = async (page: Page, app: App) => {
    const request = await authorizationRequest(app);
    await page.goto(request.url);
    if (login === 'directory' && (await page.locator('main#sign-in').count()) > 0) {
      await page.fill('[name=username]', 'ann');
      await page.fill('[name=password]', 'ann’s');
      await page.locator('main#sign-in .fields button').click();
    }
    expect(new URL(page.url()).origin).toBe(pagesOrigin);
    await page.locator('main#consent button[value=approve]').click();
    await page.waitForURL((url) => url.href.startsWith(app.redirectUri));
    return redeem(app, request, new URL(page.url()));
  };

  it('connects an app', { timeout: LONGEST }, async () => {
    const { context, page } = await visit();
    const app = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1:9/callback' });
    expect((await honest(page, app)).access_token).toBeTruthy();
    await context.close();
  });

  it(`${refuse ? 'refuses members' : 'connects an app'} behind a service worker that passes everything on`, {
    timeout: LONGEST,
  }, async () => {
    const { context, page } = await visit();
    const app = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1:9/callback' });
    await install(page, PASS_ON);
    if (refuse) {
      const answer = await page.goto((await authorizationRequest(app)).url);
      expect([answer?.status(), await page.locator('main').getAttribute('id')]).toEqual([403, 'error']);
    } else expect((await honest(page, app)).access_token).toBeTruthy();
    await context.close();
  });

  it('lets no script of the site approve, read a code, or read and disconnect apps', { timeout: LONGEST }, async () => {
    const { context, page } = await visit();
    const connected = await registerApp(world.origin, {
      redirectUri: 'http://127.0.0.1:9/callback',
      metadata: { client_name: 'Connected App' },
    });
    await honest(page, connected);
    await page.goto(`${world.origin}/course`);
    const evil = await registerApp(world.origin, {
      redirectUri: 'http://127.0.0.1:9/evil',
      metadata: { client_name: 'Evil App' },
    });
    const confidential = await registerApp(world.origin, {
      redirectUri: 'http://127.0.0.1:9/known',
      confidential: true,
      metadata: { client_name: 'Evil App' },
    });
    const urls = [
      (await authorizationRequest(evil)).url,
      (await authorizationRequest(confidential, { response_mode: 'form_post' })).url,
      `${world.origin}/oauth/apps`,
      `${world.origin}/oauth/apps/disconnect?all`,
      `${pagesOrigin}/oauth/apps`,
      `${pagesOrigin}/oauth/apps/disconnect?all`,
    ];
    const before = statuses().length;
    const read = await page.evaluate(async (addresses) => {
      const texts: string[] = [];
      for (const address of addresses) {
        try {
          const answer = await fetch(address, { credentials: 'include' });
          const text = await answer.text();
          texts.push(`${answer.status} ${text}`);
          const form = new DOMParser().parseFromString(text, 'text/html').querySelector('form');
          if (form === null) continue;
          const fields = new URLSearchParams([...new FormData(form)] as [string, string][]);
          fields.set('decision', 'approve');
          const posted = await fetch(new URL(form.getAttribute('action') ?? '', answer.url), {
            method: 'POST',
            body: fields,
          });
          texts.push(`${posted.status} ${posted.url} ${await posted.text()}`);
        } catch {
          texts.push('not readable');
        }
      }
      return texts;
    }, urls);
    expect(read.filter((text) => /csrf|name="code"|Connected App|[?&]code=/.test(text))).toEqual([]);
    expect(read.every((text) => text.startsWith('403 ') || text === 'not readable')).toBe(true);
    // Refused by the gate at both hosts: not only kept from the script by the browser.
    await expect.poll(() => statuses().slice(before)).toEqual(urls.map(() => 403));
    await page.goto(`${pagesOrigin}/oauth/apps`);
    await page.locator('main#apps').waitFor();
    const text = await page.locator('main#apps').innerText();
    expect(text).toContain('Connected App');
    expect(text).not.toContain('Evil App');
    await context.close();
  });

  it.each([apart || refuse ? 'withstands' : 'does not withstand'])(
    '%s a service worker that shows the pages in a hidden frame',
    {
      timeout: LONGEST,
    },
    async () => {
      const { context, page } = await visit();
      const evil = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1:9/evil' });
      const { url } = await authorizationRequest(evil);
      await install(page, UNFRAME);
      const approved = await page.evaluate(async (address) => {
        const frame = document.createElement('iframe');
        frame.src = address;
        document.body.append(frame);
        for (let tries = 0; tries < 50; tries += 1) {
          await new Promise((done) => setTimeout(done, 100));
          try {
            const button = frame.contentDocument?.querySelector<HTMLButtonElement>('button[value=approve]');
            if (button) return true;
          } catch {
            return false;
          }
        }
        return false;
      }, url);
      expect(approved).toBe(!(apart || refuse));
      await context.close();
    },
  );
});
