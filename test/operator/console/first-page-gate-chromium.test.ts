import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { complaintsOf } from '../../support/album.ts';
import { bearer, postForm, registerApp } from '../../support/app.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { connect } from '../../support/connection.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import type { World } from '../../support/world.ts';
import { browseConsole, openConsole, startConsoleWorld } from './support/console.ts';

const MINUTE = 60_000;
let now = Date.UTC(2026, 10, 23, 11, 2, 30);

/**
 * How high the first page may be, by the width of the screen, less the lines that this gate cannot be brought to in a
 * test: no key to sign with, a rotation that is late, and tokens that stay unused, for which the gate waits by its own
 * timers. `first-page-chromium.test.ts` makes up a page with these, too.
 */
const HIGHEST = [
  [1280, 1400 - 118],
  [390, 2400 - 175],
] as const;

const APP = 'Course Companion for the Royal Conservatoire of Seamanship, Beta';
/** The first is what members sign in with, and receives events. The last stays up, and is slow. */
const NAMES = Array.from({ length: 11 }, (_, at) => `recommendations-and-learning-paths-${at}`);
const LOGIN = String(NAMES[0]);
const SLOW = String(NAMES.at(-1));

describe.runIf(browserPresent())('the first page of a gate whose upstreams are down', () => {
  let world: World;
  let browser: Browser;
  let site: FaultProxy;
  const slow = createServer((_, response) => setTimeout(() => response.end('{}'), 1200));

  beforeAll(async () => {
    site = await startFaultProxy();
    site.fault = {
      toGate: ({ url }) => (url.pathname === '/events' ? { status: 410, headers: {}, body: '' } : undefined),
      fromGate: (answered, { url }) => {
        if (url.pathname === '/api/me')
          answered.body = answered.body.replace(
            /"name":"[^"]*"/,
            '"name":"Wilhelmina Catharina van den Heuvel-Ravensbergen"',
          );
      },
    };
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const urls = NAMES.map((name) => [name, { url: 'http://127.0.0.1:9' }] as const);
    world = await startConsoleWorld({
      clock: () => now,
      environment: { EVENTS_SECRET: `whsec_${Buffer.alloc(32, 1).toString('base64')}` },
      overrides: {
        ...{ name: 'The Royal Conservatoire of Seamanship, Navigation and Harbours', timeZone: 'UTC' },
        upstreams: {
          ...Object.fromEntries(urls),
          [LOGIN]: { url: site.origin },
          [SLOW]: { url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` },
        },
        constants: { upstreams: Object.fromEntries(NAMES.map((name) => [name, { breaker: { cooldown: 3600 } }])) },
        enforcement: { mode: 'observe' },
        ...{ login: { upstream: LOGIN }, site: { upstream: LOGIN }, tokens: { access: '3h' } },
        events: { upstream: LOGIN, path: '/events', secret: { env: 'EVENTS_SECRET' } },
        routes: [
          { match: 'GET /api/v1/orders', upstream: 'school', scopes: ['orders:read'] },
          ...NAMES.map((upstream) => ({ match: `GET /api/${upstream}`, upstream, scopes: ['courses:read'] })),
        ],
      },
    });
    site.target = world.school.urls.school;
    await live();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await site?.close();
    slow.close();
  });

  /** An hour: apps connect, upstreams go down, and the apps go on. */
  async function live() {
    const metadata = { client_name: APP };
    const apps = await Promise.all(
      [0, 1, 2, 3].map((at) => registerApp(world.origin, { metadata, redirectUri: `https://app-${at}.example/back` })),
    );
    const parameters = { scope: 'openid profile courses:read' };
    const tokens: string[] = [];
    for (const app of apps) tokens.push((await connect(app, { parameters })).access_token);
    const ask = async (path: string, token = tokens[0] ?? '', headers = bearer(token)) =>
      (await fetch(world.origin + path, { headers })).status;
    const operator = await openConsole(world);
    await vi.waitUntil(async () => (await operator.get('/console/events')).text.includes('410 Gone'), 10_000);
    expect(await Promise.all(Array.from({ length: 110 }, () => ask(`/api/${SLOW}`)))).not.toContain(503);
    await site.close();
    const [app] = apps;
    const form = {
      grant_type: 'authorization_code',
      client_id: String(app?.client.client_id),
      code: 'x',
      redirect_uri: 'x',
    };
    for (let minute = 0; minute < 56; minute += 1) {
      now += MINUTE;
      await Promise.all([
        ...NAMES.slice(0, -1).map((name) => ask(`/api/${name}`)),
        ask('/api/v1/orders', 'unknown'),
        ask('/api/v1/orders', '', {}),
        ask('/api/v1/orders', '', { authorization: `DPoP ${tokens[0]}`, dpop: 'x' }),
        postForm(String(app?.server.token_endpoint), { ...form, code_verifier: 'x'.repeat(43) }),
        ...tokens.map((token) => ask('/api/v1/orders', token)),
      ]);
      // Counts are taken of the minute in which they are looked at.
      await (await openConsole(world)).get('/console/traffic');
    }
    expect(await world.reload({ origin: 'nonsense' })).toMatchObject({ kind: 'refused' });
    expect((await (await openConsole(world)).post('/console/registration/close')).status).toBe(303);
    now += MINUTE;
  }

  it('is as high as it may be, and says what is down', async () => {
    const page = await browseConsole(browser, world);
    const complaints = complaintsOf(page.context());
    await page.goto('/console');
    for (const [width, highest] of HIGHEST) {
      await page.setViewportSize({ width, height: 800 });
      const height = await page.evaluate('document.documentElement.scrollHeight');
      expect.soft(height, `at ${width} px`).toBeLessThanOrEqual(highest);
    }
    const concerns = page.getByRole('list', { name: 'Needs attention' });
    const texts = await concerns.getByRole('listitem').allInnerTexts();
    expect(texts[0]).toMatch(/^Members cannot sign in or open the site, .*paths-0 has not answered since 11:59/);
    expect(texts).toHaveLength(10);
    await concerns.getByRole('link', { name: 'All upstreams' }).click();
    await page.getByText('11 more, 7 of them failing').click();
    expect(await page.getByRole('cell', { name: /^failing since/ }).count()).toBe(NAMES.length - 1);
    // Nothing of a name is cut.
    const cut = await page
      .getByRole('rowheader', { name: /^recommendations-/ })
      .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).length);
    expect(cut).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
