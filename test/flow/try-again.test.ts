import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { tabTo } from '../support/keyboard.ts';
import { rawRequest } from '../support/raw.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const RETRY = '<a class="button go" href="">Try again</a>';
const AGAIN = 'Wait a moment, then try again.';
const GO_BACK = 'Wait a moment, then go back and start again.';

let school: RecordingUpstream;
let world: World;
beforeAll(async () => {
  school = await startRecordingUpstream();
  world = await startWorld({
    profile: 'A',
    overrides: {
      listen: { trustedProxies: ['loopback'] },
      limits: { address: { requests: 3, per: '1m' } },
      upstreams: { school: { url: school.url, breaker: { failures: 0 } } },
    },
  });
});
afterAll(() => Promise.all([world.close(), school.close()]));

let addresses = 0;
const ask = async (path: string, init: RequestInit = {}) => {
  addresses += 1;
  const headers = { accept: 'text/html', 'x-forwarded-for': `198.51.100.${addresses}`, ...init.headers };
  const answer = await fetch(world.origin + path, { redirect: 'manual', ...init, headers });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
};
const fails = () => school.script((_request, response) => void response.destroy());

describe('an error page', () => {
  it('offers to try again when a GET failed', async () => {
    fails();
    const page = await ask('/courses?page=2');
    expect(page.status).toBe(502);
    expect(page.text).toContain(RETRY);
    expect(page.text).toContain(AGAIN);
    school.script(answerOk);
    expect((await ask('/courses?page=2')).status).toBe(200);
  });

  it('offers it for the steps of a sign-in, as long as the request waits', async () => {
    school.script(answerOk);
    const { url } = await authorizationRequest(await registerApp(world.origin));
    const browser = createBrowser({ 'x-forwarded-for': '198.51.100.250' });
    browser.cookies.set('school_session', { value: 'held', path: '/' });
    fails();
    const page = await browser.open(url);
    expect(page.status).toBe(503);
    expect(page.text).toContain(RETRY);
  });

  it('never offers to repeat a POST', async () => {
    fails();
    const page = await ask('/login', { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
    expect(page.status).toBe(502);
    expect(page.text).not.toContain('href=""');
    expect(page.text).toContain(GO_BACK);
  });

  it.each([
    ['/oauth/interaction/long-gone', 400, 'Go back to the app and start again.'],
    ['/oauth/authorize?client_id=nobody', 400, 'This app is no longer registered here'],
    ['/oauth/assets/nothing', 404, 'There is nothing at this address.'],
  ])('does not offer it at %s, where it cannot help', async (path, status, text) => {
    school.script((_request, response) => void response.writeHead(404).end());
    const page = await ask(path);
    expect(page.status).toBe(status);
    expect(page.text).not.toContain('href=""');
    if (page.headers.get('content-type')?.startsWith('text/html') !== true) return;
    expect(page.text).toContain(text);
    const [, main = ''] = page.text.split('<main id="error">');
    expect(main).toContain('<a class="button" href="/oauth/apps">Connected apps</a>');
    expect(main).toContain('>Back to <bdi>Harbour Lane School</bdi></a>');
    const links = [...page.text.slice(page.text.indexOf('<main')).matchAll(/<a [^>]*href="([^"]*)"/g)];
    expect(links.map(([, href]) => href)).toEqual(['/', '/oauth/apps']);
    const id = page.headers.get('x-request-id') ?? '-';
    expect(/<code lang="en" dir="ltr">([\s\S]*?)<\/code>/.exec(main)?.[1]?.split('\n')).toEqual([
      expect.stringMatching(/^(?:invalid_request|invalid_client|not_found)/),
      `request ${id}`,
      expect.stringMatching(/^trace [\da-f]{32}$/),
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    ]);
  });

  it('leads nowhere else, whatever the address looks like', async () => {
    fails();
    for (const path of [
      '//evil.example/x',
      '/\\evil.example',
      '/x?next=https://evil.example/',
      '/%2F%2Fevil.example',
    ]) {
      const page = await ask(path);
      expect(page.text).not.toMatch(/href="[^"]*evil|<base/);
    }
  });

  it.each(['/oauth/apps', '/mcp'])('says when, if there were too many requests for %s', async (path) => {
    school.script(answerOk);
    addresses += 1;
    const address = `198.51.100.${addresses}`;
    const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'x-forwarded-for': address };
    const open = () => rawRequest(world.origin, { path, headers });
    for (let times = 0; times < 3; times += 1) expect((await open()).status).not.toBe(429);
    const page = await open();
    expect(page.status).toBe(429);
    const wait = Number(page.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(page.text).toMatch(/Too many requests\. Try again in <bdi>(\d+ seconds?|1 minute)<\/bdi>\./);
    if (wait < 60) expect(page.text).toContain(`${wait} second`);
    expect(page.text).toContain(RETRY);
  });
});

describe.skipIf(!browserPresent())('in Chromium', () => {
  it('“Try again” loads the same address again', async () => {
    const chromium = await launchChromium();
    try {
      const page = await chromium.newPage({ extraHTTPHeaders: { 'x-forwarded-for': '198.51.100.252' } });
      fails();
      await page.goto(`${world.origin}/courses?page=2`);
      const link = page.getByRole('link', { name: 'Try again' });
      await link.waitFor();
      // One press selects the whole reference for support, which is no higher than the message.
      const reference = page.locator('.copy code');
      await reference.click();
      const selected = await page.evaluate<string>('getSelection().toString()');
      expect(selected.split('\n')).toEqual((await reference.innerText()).split('\n'));
      expect(selected).toMatch(/^upstream_unreachable.*\nrequest /);
      const top = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0;
      const message = (await top('.retry')) - (await top('h1'));
      expect((await reference.boundingBox())?.height).toBeLessThanOrEqual(message);
      school.script(async (_request, response, recorded) => {
        await recorded.whole;
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works again</h1>');
      });
      await tabTo(page, '.retry a');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'It works again' }).waitFor();
      expect(page.url()).toBe(`${world.origin}/courses?page=2`);
    } finally {
      await chromium.close();
    }
  });
});
