import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFrame, STYLESHEET } from '../../../src/operator/console/frame.ts';
import { createTimes } from '../../../src/operator/console/kit/times.ts';
import type { GateStatus } from '../../../src/operator/console/overview/gate-status.ts';
import { overviewPage } from '../../../src/operator/console/overview/overview-page.ts';
import { PAGES } from '../../../src/operator/console/pages.ts';
import type { ConsoleSources } from '../../../src/operator/console/sources.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { jsonEntry } from '../../../src/storage/store.ts';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 23, 12, 0, 30);
const clock = () => NOW;

/** How high the first page may be, whatever is wrong, by the width of the screen. */
const HIGHEST = [
  [1280, 1400],
  [390, 2400],
] as const;

const SCHOOL = 'The Royal Conservatoire of Seamanship, Navigation and Harbours';
const APP = 'Course Companion for the Royal Conservatoire of Seamanship, Beta';
const MEMBER = {
  sub: 'member-4711-0815',
  name: 'Wilhelmina Catharina van den Heuvel-Ravensbergen',
  email: 'w@mail.example',
};

/** Ten are down, and the first of them is what members sign in with. One works. */
const UPSTREAMS = Array.from({ length: 11 }, (_, at) => ({
  name: `recommendations-and-learning-paths-${at}`,
  origin: `https://recommendations-${at}.internal.conservatoire.example:8443`,
  uses: { signIn: at === 0, site: at === 0, apps: at < 9, events: at < 2 },
  ...{ breaker: at < 10 ? ('open' as const) : ('closed' as const), requests: 128, streams: 64 },
  outage: at < 10 ? { failures: 2000, since: NOW - (26 * 60 + at) * MINUTE } : undefined,
}));

/** Everything that the first page can say, but for a store that is down: then it can say little else. */
const STATUS: GateStatus = {
  health: { ok: false, text: '', checks: [{ name: 'keys', ok: false, detail: 'no signing key' }] },
  store: { kind: 'postgres', bytes: undefined },
  keys: ['ES256', 'RS256'].map((alg) => ({
    state: 'signing',
    until: NOW / 1000 - 90_000,
    publicKey: { alg },
  })) as never,
  upstreams: UPSTREAMS,
  reload: { takenAt: NOW / 1000 - 90_000, fingerprint: '0123456789abcdef', refusedAt: NOW / 1000 - 90_000 },
  config: { profile: 'A', routes: 128 },
  observing: true,
  unusedApps: Array.from({ length: 12 }, (_, at) => ({
    name: `learning-companion-${at}.apps.international-conservatoires.example`,
    clientId: `app-${at}`,
  })),
  events: { stopped_at: '2026-11-22T10:00:00Z', pending: { grant: 1000, client: 1 } } as never,
  uptime: 90_000,
};

const SLOW = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1200, 0, 0, 0];
const COUNTS = Object.entries({
  ...{ 'requests admitted': 9000, 'requests refused': 4000, 'requests failed': 3000 },
  ...{ 'requests anonymous': 800, 'requests public': 700, 'requests site': 600 },
  ...{ 'statuses 2xx': 9000, 'statuses 4xx': 4000, 'statuses 5xx': 3000, 'failures upstream_unavailable': 3000 },
  ...{ 'refusals invalid_token': 900, 'refusals insufficient_scope': 800, 'refusals invalid_dpop_proof': 700 },
  ...{ 'refusals no_token': 600, 'refusals access_denied': 500, 'refusals invalid_grant': 400 },
  ...{ 'sign-ins login_unavailable': 12, 'sign-ins success': 1 },
});
const LATENCIES = ['gate', ...UPSTREAMS.map(({ name }) => `upstream ${name}`)].map((of) => [of, SLOW] as const);
const minute = () => ({
  counts: new Map(COUNTS),
  latencies: new Map(LATENCIES.map(([of, counts]) => [of, [...counts]])),
});
const MINUTES = Array.from({ length: 55 }, (_, ago) => [Math.floor(NOW / MINUTE) - 1 - ago, minute()] as const);

const ATTEMPTS = Array.from({ length: 60 }, (_, at) => ({
  id: `attempt-${at}`,
  left: 0,
  steps: [
    {
      ...{
        kind: 'use',
        at: NOW - (3 + at / 2) * MINUTE,
        since: NOW,
        times: 1,
        took: 1,
        endpoint: 'GET /api/v1/orders',
      },
      ...{ status: 403, error: 'insufficient_scope', userAgent: '', network: '' },
      ...(at % 3 < 2 && { clientId: 'app-0', clientName: APP, member: MEMBER.sub }),
    },
  ],
}));

describe.runIf(browserPresent())('the first page of a gate with everything wrong', () => {
  let browser: Browser;
  let server: Server;
  beforeAll(async () => {
    const store = memoryStore(clock);
    const member = jsonEntry('Member', MEMBER.sub, MEMBER, undefined);
    const app = jsonEntry('Client', 'app-0', { client_id: 'app-0', client_name: APP, redirect_uris: [] }, undefined);
    await store.commit([member, app].map((entry) => ({ op: 'put' as const, entry })));
    const sources: Partial<ConsoleSources> = {
      ...{ store, clock, times: createTimes('UTC', clock), takesNewApps: true },
      onError: (thrown) => {
        throw thrown;
      },
      gate: async () => STATUS,
      setting: { origin: 'https://conservatoire.example', codeLifetime: 60, replayWindow: 60 },
      traffic: { recent: async () => ({ minutes: new Map(MINUTES), complete: true }) },
      recorder: { list: async () => ATTEMPTS as never },
      directory: { look: async () => ({ state: 'reading', share: 0.5 }) } as never,
      controls: { account: { registrationClosedSince: async () => NOW / 1000 - 90_000 } } as never,
    };
    const frame = createFrame(SCHOOL, '#14506b', PAGES);
    server = createServer(async (request, response) => {
      if (request.url === STYLESHEET) return frame.sendStylesheet(response);
      const { body } = await overviewPage(sources as ConsoleSources);
      const operator = { certificate: undefined, csrf: '' };
      frame.send(response, 200, { title: 'Overview', body, under: '/', operator });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it('is as high as it may be, and says all that it would say otherwise', async () => {
    const { port } = server.address() as AddressInfo;
    const context = await browser.newContext({ baseURL: `http://127.0.0.1:${port}` });
    const complaints = complaintsOf(context);
    const page = await context.newPage();
    const { look, findings } = closeLook('console-first-page');
    await page.goto('/');
    for (const [width, highest] of HIGHEST) {
      await page.setViewportSize({ width, height: 800 });
      const height = await page.evaluate('document.documentElement.scrollHeight');
      expect.soft(height, `at ${width} px`).toBeLessThanOrEqual(highest);
    }
    const concerns = page.getByRole('list', { name: 'Needs attention' });
    expect(await concerns.getByRole('listitem').count()).toBe(13);
    await concerns.getByRole('link', { name: 'All upstreams' }).click();
    await page.getByText('8 more, 7 of them failing').click();
    await page.getByRole('cell', { name: 'failing since 22 Nov, 09:51' }).waitFor();
    expect(await page.getByRole('rowheader', { name: /^recommendations-/ }).count()).toBe(UPSTREAMS.length);
    await look(page, 'worst');
    expect([...findings, ...complaints]).toEqual([]);
    await context.close();
  });
});
