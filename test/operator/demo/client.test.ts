import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startClient } from '../../../src/operator/demo/client.ts';
import { STEPS } from '../../support/story.ts';
import { CookieBrowser } from '../connect/support/cookie-browser.ts';
import { startTestGate, type TestGate, type TestGateOptions } from '../connect/support/test-gate.ts';

const running: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

interface Demo {
  readonly gate: TestGate;
  readonly url: string;
  readonly browser: CookieBrowser;
}

async function start(options: TestGateOptions = {}, clock: () => number = Date.now): Promise<Demo> {
  const gate = await startTestGate(options);
  const client = await startClient({ port: 0, gate: gate.origin, clock });
  running.push(client, gate);
  return { gate, url: client.url, browser: new CookieBrowser() };
}

/** Presses Connect and completes the sign-in. Returns the URL to which the school redirects the browser. */
async function toCallback({ url, browser }: Demo, fields: [string, string][] = []): Promise<URL> {
  const pressed = await browser.post(`${url}/connect`, fields);
  expect(pressed.status).toBe(303);
  const authorize = new URL(pressed.headers.get('location') ?? '', url);
  return (await browser.follow(authorize, (next) => next.pathname === '/callback')).url;
}

async function connected(demo: Demo, fields: [string, string][] = []): Promise<string> {
  const back = await demo.browser.request(await toCallback(demo, fields));
  expect([back.status, back.headers.get('location')]).toEqual([303, '/']);
  return page(demo);
}

async function page({ url, browser }: Demo, path = '/'): Promise<string> {
  return (await browser.request(url + path)).text();
}

/** Presses a button and returns the newest card. */
async function press(demo: Demo, action: string): Promise<string> {
  const response = await demo.browser.post(`${demo.url}/${action}`);
  expect(response.status).toBe(303);
  expect(response.headers.get('location')).toMatch(/^\/#step-\d+$/);
  return lastCard(await page(demo));
}

function lastCard(text: string): string {
  const cards = text.split('<li class="step ').slice(1);
  return cards.at(-1) ?? '';
}

const titles = (text: string) => [...text.matchAll(/<span class="title">([^<]+)/g)].map((match) => match[1]);

describe('Study Buddy', () => {
  it('offers to connect and to choose scopes, without scripts', async () => {
    const demo = await start();
    const response = await demo.browser.request(demo.url);
    const text = await response.text();
    expect(text).toContain('<main id="study-buddy">');
    expect(text).toMatch(/<form method="post" action="\/connect">\s*<button class="primary big">Connect</);
    expect(text).toContain('value="account:read" checked');
    expect(text).toContain('value="courses:write">');
    expect(text).not.toContain('<script');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  it('shows every request and response of the eight steps, with secrets shortened', async () => {
    let now = Date.UTC(2026, 1, 1);
    const demo = await start({}, () => now);
    const text = await connected(demo);
    expect(titles(text)).toEqual(STEPS);
    expect(text).toContain('As <strong>student@example.com</strong>');
    expect(text).toMatch(/<strong>Intro to pottery<\/strong>\s*<span>access until 1 Mar 2027 · stopped at 1:02:05</);
    expect(text).toContain('drawing-for-&lt;beginners&gt;');
    expect(text).toContain('your name <code>profile</code>');
    expect(text).toContain(`<b>GET</b> ${demo.gate.origin}/.well-known/oauth-protected-resource`);
    expect(text).toContain('<i>code_challenge_method</i>=S256');
    expect(text).toContain(`<i>resource</i>=${demo.gate.origin}`);
    expect(text).toContain('state matches step 4.');
    for (const name of ['code', 'code_verifier']) {
      expect(text).toMatch(new RegExp(`<i>${name}</i>=[\\w-]{6}…\\n`));
      expect(text).not.toMatch(new RegExp(`<i>${name}</i>=[\\w-]{12}`));
    }
    expect(text).toMatch(/access_token&quot;: &quot;[\w-]{6}…&quot;/);
    expect(text).toMatch(/<i>authorization<\/i>: Bearer [\w-]{6}…\n/);
    expect(text.match(/<details open>/g)).toHaveLength(1);
    expect(await page(demo, '/?secrets=shown')).toMatch(/access_token&quot;: &quot;[\w-]{20,}&quot;/);
    // The last day of access has passed an hour ago.
    now = Date.UTC(2027, 2, 1, 1);
    await connected(demo);
    expect(await page(demo)).toContain('<strong class="ended">access ended 1 Mar 2027</strong>');
  });

  it('reads again, refreshes, introspects, disconnects, and is then refused', async () => {
    const demo = await start();
    await connected(demo);
    expect(await press(demo, 'courses')).toContain('2 courses, from the Account API.');
    expect(await press(demo, 'refresh')).toContain('a refresh token was issued too');
    const token = await press(demo, 'introspect');
    expect(token).toContain(`It is bound to ${demo.gate.origin}.`);
    expect(token).toContain('The token is active.');
    expect(await press(demo, 'revoke')).toContain('revokes its tokens');
    expect(await page(demo)).toContain('Try to read anyway');
    const refused = await press(demo, 'courses');
    expect(refused).toContain('<b>401 Unauthorized</b>');
    expect(refused).toContain('<i>www-authenticate</i>: Bearer error=&quot;invalid_token&quot;');
    expect(refused).toMatch(/^refused"/);
    expect(refused).toContain('Refused, as it should be');
    expect(await press(demo, 'introspect')).toContain('not active');
  });

  /** Reads the newest value of a name in the responses that Study Buddy shows. */
  const shown = async (demo: Demo) => {
    const text = (await page(demo, '/?secrets=shown')).replaceAll('&quot;', '"');
    return (name: string) => [...text.matchAll(new RegExp(`"${name}": "([^"]+)"`, 'g'))].at(-1)?.[1] ?? '';
  };

  it('refreshes by itself when its access token is refused', async () => {
    const demo = await start();
    await connected(demo);
    await demo.gate.expire((await shown(demo))('access_token'));
    expect(await press(demo, 'courses')).toContain('2 courses, from the Account API.');
    const text = await page(demo);
    expect(titles(text).slice(-3)).toEqual([
      'Read the member’s courses',
      'Refresh the token',
      'Read the member’s courses',
    ]);
    expect(text).toContain('<h2>Connected</h2>');
    expect(text).not.toContain('<li class="step failed"');
  });

  it.each(['courses', 'refresh'])(
    'notices on %s that its member disconnected it, and can connect again',
    async (action) => {
      const demo = await start();
      const scope: [string, string][] = [
        ['scope', 'openid'],
        ['scope', 'account:read'],
      ];
      await connected(demo, scope);
      // As the school's own page of connected apps would.
      const last = await shown(demo);
      const body = new URLSearchParams({ token: last('refresh_token'), client_id: last('client_id') });
      expect((await fetch(last('revocation_endpoint'), { method: 'POST', body })).status).toBe(200);
      const pressed = await demo.browser.post(`${demo.url}/${action}`);
      expect([pressed.status, pressed.headers.get('location')]).toEqual([303, '/']);
      const answer = await demo.browser.request(demo.url);
      // The button leads through the gate to the school's own login page.
      expect(answer.headers.get('content-security-policy')).not.toContain('form-action');
      const text = await answer.text();
      expect(text).toContain('<h2>You disconnected Study Buddy</h2>');
      expect(text).not.toMatch(/<li class="step failed"|did not work|<table/);
      const fields = [...text.matchAll(/<input type="hidden" name="(scope)" value="([^"]+)"/g)];
      expect(fields.map(([, , value]) => value)).toEqual(['openid', 'account:read']);
      expect(text).toContain('Connect again</button>');
      expect(await connected(demo, scope)).toContain('<h2>Connected</h2>');
    },
  );

  it('keeps its tokens while the school is unreachable', async () => {
    const demo = await start({ reads: 503 });
    await demo.browser.request(await toCallback(demo));
    expect(await press(demo, 'courses')).toMatch(/^failed"/);
    const text = await page(demo);
    expect(text).toContain('<h2>Connected</h2>');
    expect(titles(text)).not.toContain('Refresh the token');
  });

  it('requests the selected scopes', async () => {
    const demo = await start();
    const text = await connected(demo, [
      ['scope', 'courses:read'],
      ['scope', 'nonsense'],
    ]);
    expect(text).toContain('<code>courses:read</code>');
    expect(text).not.toContain('nonsense');
    // Without account:read, the Account API returns nothing, so the courses come from REST.
    expect(text).toContain('Courses of the school');
  });

  it('reads the courses over REST if there is no Account API', async () => {
    const text = await connected(await start({ account: false }));
    expect(text).toContain('<b>404 Not Found</b>');
    expect(text).toContain('rest-course');
  });

  it('refuses a wrong state without ending the sign-in, and a second use of the callback URL', async () => {
    const demo = await start();
    const callback = await toCallback(demo);
    const forged = new URL(callback);
    forged.searchParams.set('state', 'forged');
    expect((await demo.browser.request(forged)).status).toBe(400);
    expect((await new CookieBrowser().request(callback)).status).toBe(400);
    expect((await demo.browser.request(callback)).status).toBe(303);
    const again = await demo.browser.request(callback);
    expect(again.status).toBe(400);
    expect(await again.text()).toContain('Study Buddy is not expecting this response');
    expect(await page(demo)).toContain('<h2>Connected</h2>');
  });

  it('refuses a response from another issuer, without redeeming its code', async () => {
    const demo = await start({ redirect: (url) => url.searchParams.set('iss', 'https://evil.example') });
    await demo.browser.request(await toCallback(demo));
    const text = await page(demo);
    expect(titles(text).at(-1)).toBe('Back with a code');
    expect(lastCard(text)).toMatch(/^failed"/);
    expect(lastCard(text)).toContain('iss');
  });

  it('shows a card when the member declines, the server is unreachable, or its metadata is not trustworthy', async () => {
    const denied = await start({ deny: true });
    await denied.browser.request(await toCallback(denied));
    expect(await page(denied)).toContain('access_denied (The member said no)');

    const lone = createServer();
    await new Promise<void>((resolve) => lone.listen(0, 'localhost', resolve));
    const { port } = lone.address() as AddressInfo;
    await new Promise((resolve) => lone.close(resolve));
    const client = await startClient({ port: 0, gate: `http://localhost:${port}` });
    running.push(client);
    const browser = new CookieBrowser();
    const pressed = await browser.post(`${client.url}/connect`);
    expect(pressed.headers.get('location')).toBe('/#step-1');
    expect(await (await browser.request(client.url)).text()).toContain('nothing is listening there');

    const plain = await start({ metadata: (document) => delete document.code_challenge_methods_supported });
    expect(await press(plain, 'connect')).toContain('does not advertise PKCE with S256');
  });

  it('keeps browsers separate, and forgets a session after Start over or two idle hours', async () => {
    let now = Date.now();
    const demo = await start({}, () => now);
    await connected(demo);
    expect(await page({ ...demo, browser: new CookieBrowser() })).toContain('Connect</button>');
    now += 7_100_000;
    expect(await page(demo)).toContain('<h2>Connected</h2>');
    now += 7_300_000;
    expect(await page(demo)).toContain('Connect</button>');
    await connected(demo);
    await demo.browser.post(`${demo.url}/start-over`);
    expect(await page(demo)).toContain('Connect</button>');
  });

  it('refuses forms from other origins and host names, and shows a page for invalid input', async () => {
    const { url, browser } = await start();
    expect((await browser.post(`${url}/connect`, [], { origin: 'http://localhost:4000' })).status).toBe(403);
    const renamed = await browser.request(url.replace('localhost', '127.0.0.1')).catch(() => undefined);
    if (renamed !== undefined) expect(renamed.headers.get('location')).toBe(`${url}/`);
    expect((await browser.request(`${url}/nothing`)).status).toBe(404);
    expect((await browser.post(`${url}/toString`)).status).toBe(404);
    expect((await browser.post(`${url}/connect`, [['scope', 'x'.repeat(9000)]])).status).toBe(413);
    expect((await browser.post(`${url}/refresh`)).headers.get('location')).toBe('/');
    expect((await browser.request(`${url}/callback?state=%00&code=x`)).status).toBe(400);
  });

  it('reports a port in use to the caller, and refuses a gate on plain http on another host', async () => {
    const { url } = await start();
    const port = Number(new URL(url).port);
    await expect(startClient({ port, gate: 'http://localhost:8080' })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await expect(startClient({ port: 0, gate: 'http://school.example' })).rejects.toThrow('not https');
  });
});
