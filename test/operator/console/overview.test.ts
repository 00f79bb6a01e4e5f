import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTimes } from '../../../src/operator/console/kit/times.ts';
import { signLink } from '../../../src/operator/console/link.ts';
import type { GateStatus } from '../../../src/operator/console/overview/gate-status.ts';
import { overviewPage } from '../../../src/operator/console/overview/overview-page.ts';
import { concernsOf, type GateFindings, verdict } from '../../../src/operator/console/overview/verdict.ts';
import type { Explained } from '../../../src/operator/console/recorder/explained.ts';
import type { ConsoleSources } from '../../../src/operator/console/sources.ts';
import { readPeriod } from '../../../src/operator/console/traffic/period.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';
import type { World } from '../../support/world.ts';
import { ask, type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';

const MINUTE = 60_000;
const HMAC = { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } };

/** Nothing listens there, and the breaker stays open for longer than the test. */
const FAILING = {
  upstreams: { school: { url: 'http://127.0.0.1:9' } },
  constants: { upstreams: { school: { breaker: { cooldown: 600 } } } },
};

describe('the first page', () => {
  let world: World;
  let session: ConsoleSession;
  let now = Date.UTC(2026, 10, 23, 9, 20);
  beforeAll(async () => {
    world = await startConsoleWorld({ clock: () => now, overrides: { ...HMAC, ...FAILING, timeZone: 'UTC' } });
    session = await openConsole(world);
  });
  afterAll(() => world.close());
  const page = async () => (await session.get('/console')).text;

  it('is calm before anything was measured, and shows the state of the gate', async () => {
    const text = await page();
    expect(text).toContain('<p class="notice calm">Nothing has been measured yet');
    expect(text).not.toContain('Everything works.');
    expect(text).toMatch(/<span class="badge good">ready<\/span> Running for/);
    expect(text).toMatch(/SQLite, of this gate alone, [\d.]+ (?:KiB|MiB)/);
    expect(text).toMatch(/<a href="\/console\/keys">(?:ES256 and RS256|RS256 and ES256)<\/a>, next rotation/);
    expect(text).toMatch(/<th scope="row">school<\/th>.*<td class="wide">http:\/\/127\.0\.0\.1:9</);
    expect(text).toContain('<span class="badge good">enforced</span>');
    expect(text).toMatch(/<code>[0-9a-f]{16}<\/code>/);
    expect(text).toContain('action="/console/search"');
    expect(text).toContain('href="/console/apps?power=change&amp;unused=30"');
  });

  it('says everything works once there was traffic, and shows what can be done before the charts', async () => {
    await fetch(`${world.origin}/.well-known/oauth-protected-resource`);
    now += MINUTE;
    const text = await page();
    expect(text).toMatch(/<p class="notice good">Everything works\. In the last hour, one request was answered/);
    const order = ['role="search"', 'Attempts that stopped', 'Traffic in the last hour', 'This gate'];
    const places = order.map((part) => text.indexOf(part));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it('says which upstream does not answer, since when and whom that hits, until a request has found it back', async () => {
    for (let times = 0; times < 3; times += 1) await fetch(`${world.origin}/`);
    expect(await page()).toMatch(
      /<li class="notice warn"><b>school<\/b> has not answered the last 3 requests since 09:2/,
    );
    for (let times = 0; times < 2; times += 1) await fetch(`${world.origin}/`);
    const text = await page();
    expect(text).toMatch(
      /<li class="notice bad">Members cannot sign in or open the site, and apps cannot use its API: <b>school<\/b> has not answered since 09:2\d\./,
    );
    expect(text).toMatch(/<span class="badge bad">failing<\/span> since 09:2/);
    expect(text).not.toContain('Everything works.');
    now += MINUTE;
    expect(await page()).toMatch(/<li class="notice bad">5 of 6 requests failed \(83%\) at 09:2\d|since 09:2\d/);
  });

  it('says that the configuration on disk was refused, with the one that serves', async () => {
    const fingerprint = /<code>([0-9a-f]{16})<\/code>/.exec(await page())?.[1];
    await world.reload({ ...HMAC, origin: 'nonsense' });
    const text = await page();
    expect(text).toMatch(/The configuration on disk has mistakes and was not loaded at 09:2\d:/);
    expect(text).toContain(`<code>${fingerprint}</code>`);
  });
});

describe.skipIf(!redisPresent())('while the store is down, the console', () => {
  let redis: RedisServer;
  let world: World;
  beforeAll(async () => {
    redis = await startRedis();
    world = await startConsoleWorld({
      environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
      overrides: { ...HMAC, store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'COURSEGATE_SECRET' } },
    });
  });
  afterAll(async () => {
    await world.close();
    await redis.close();
  });

  it('can be opened, read and left, but changes nothing', async () => {
    const before = await openConsole(world);
    await redis.kill();
    for (const session of [before, await openConsole(world)]) {
      const { status, text } = await session.get('/console');
      expect(status).toBe(200);
      expect(text).toMatch(/Members cannot sign in or connect an app: the store cannot be used since \d\d:\d\d\./);
      expect(text).toContain('<dt>New apps</dt><dd>This cannot be read right now.</dd>');
      expect(text).toContain('<span class="badge bad">not ready</span>');
      const action = await session.post('/console/keys/rotate');
      expect([action.status, action.text.includes('The store is unavailable')]).toEqual([503, true]);
      expect((await session.post('/console/sign-out')).status).toBe(200);
      expect((await session.get('/console')).status).toBe(303);
    }
    const form = { link: signLink(COMMAND_SECRET, Math.floor(Date.now() / 1000)) };
    const open = () => ask(world.admin, '/console/sign-in', { method: 'POST', form });
    expect([(await open()).status, (await open()).status]).toEqual([303, 401]);
  });
});

const NOW = Date.UTC(2026, 10, 23, 12, 0, 30);
const TIMES = createTimes('UTC', () => NOW);
const WELL: GateStatus = {
  health: { ok: true, text: 'ok', checks: [] },
  store: { kind: 'sqlite', bytes: 1 },
  keys: [],
  upstreams: [],
  reload: { takenAt: 0, fingerprint: '' },
  config: { profile: 'A', routes: 1 },
  observing: false,
  unusedApps: [],
  events: undefined,
  uptime: 1,
};
const NOT_USED = { signIn: false, site: false, apps: false, events: false };
const outage = { failures: 5, since: NOW - 80 * MINUTE };
const failing = (names: string, breaker: 'open' | 'half_open' = 'open', uses = {}) =>
  [...names].map((name) => ({
    ...{ name, origin: '', requests: 0, streams: 0, breaker, outage },
    uses: { ...NOT_USED, ...uses },
  }));
const events = { upstream: 'school', path: '/events', pending: { grant: 2, client: 1 }, events: [] };
const apps = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `app${at}.example`, clientId: `c-${at}` }));
const down = { health: { ...WELL.health, checks: [{ name: 'drain', ok: false, detail: '' }] } };

/** A period of counts by minutes ago. */
const lastHour = (minutes: Readonly<Record<number, Readonly<Record<string, number>>>>, slow: number[] = []) => {
  const current = Math.floor(NOW / MINUTE);
  const recent = Object.entries(minutes).map(([ago, counts]) => {
    const latencies = slow.length === 0 ? [] : ([['gate', slow]] as [string, number[]][]);
    return [current - Number(ago), { counts: new Map(Object.entries(counts)), latencies: new Map(latencies) }] as const;
  });
  return readPeriod({ recent: async () => ({ minutes: new Map(recent), complete: true }) }, 'hour', NOW);
};
const QUIET = { 'requests admitted': 100, 'statuses 2xx': 100 };

/** An attempt that stopped, or went on. */
const attempt = (ago: number, title: string, { id = 'scope-missing', isNamed = true, stopped = true } = {}) =>
  ({
    attempt: {
      id: 'a',
      steps: [{ kind: 'use', at: NOW - ago * MINUTE, ...(isNamed && { clientId: 'c', member: 'm' }) }],
      left: 0,
    },
    state: stopped ? 'stopped' : 'connected',
    why: stopped ? { id, title } : undefined,
  }) as unknown as Explained;

const concerns = async (evidence: Partial<GateFindings>) =>
  concernsOf({ status: WELL, period: await lastHour({ 1: QUIET }), attempts: [], ...evidence }, TIMES, NOW).map(
    ({ level, text }) => `${level}: ${text.text.replaceAll(/<[^>]*>/g, '')}`,
  );

describe('what needs attention', () => {
  it.each<[string, Partial<GateStatus>]>([
    ['bad: a has not answered since 10:40.', { upstreams: failing('a') }],
    ['bad: a has not answered since 10:40.', { upstreams: failing('a', 'half_open') }],
    [
      'bad: Members cannot open the site, and its events wait: a',
      { upstreams: failing('a', 'half_open', { site: true, events: true }) },
    ],
    ['warn: The last three connections of app0.example were never used', { unusedApps: apps(1) }],
    [
      'warn: The last three connections of app6.example, app5.example and 5 more were never used',
      { unusedApps: apps(7) },
    ],
    ['warn: Routes are observed, not enforced: the gate refuses nothing yet', { observing: true }],
    [
      'bad: Events are no longer sent: the backend answered 410 at 11:50',
      { events: { ...events, stopped_at: '2026-11-23T11:50:00Z' } },
    ],
    [
      'warn: 3 events wait: the backend did not accept the last one at 22 Nov, 11:50 (500)',
      { events: { ...events, last_failure: { at: '2026-11-22T11:50:00Z', reason: '500' } } },
    ],
    ['bad: The configuration on disk', { reload: { takenAt: 0, fingerprint: '', refusedAt: NOW / 1000 } }],
    ['bad: This gate is shutting down.', down],
  ])('%s', async (words, changed) => {
    const found = await concerns({ status: { ...WELL, ...changed } });
    expect(found).toEqual([expect.stringContaining(words)]);
  });

  it.each<[string, Readonly<Record<number, Readonly<Record<string, number>>>>, string[]]>([
    ['a few failures among many', { 1: { 'statuses 2xx': 10_000, 'statuses 5xx': 20 } }, []],
    ['four failures on a quiet gate', { 1: { 'statuses 2xx': 10, 'statuses 5xx': 4 } }, []],
    [
      'failures that are over',
      {
        35: { 'statuses 5xx': 2, 'statuses 2xx': 100 },
        31: { 'statuses 5xx': 30, 'failures upstream_timeout': 30, 'failures not_found': 90 },
        30: { 'statuses 5xx': 6, 'failures internal': 6 },
      },
      [
        'warn: 38 of 138 requests failed (28%) between 11:25 and 11:30, and not since; most often: an upstream took too long (30).',
      ],
    ],
    [
      'failures that go on',
      { 9: { 'statuses 5xx': 3 }, 1: { 'statuses 5xx': 7, 'statuses 2xx': 90 } },
      ['bad: 10 of 100 requests failed (10%) since 11:51; all were answers of your backend.'],
    ],
    [
      'requests without a token, apps that refresh after the 401, and what members decide',
      {
        1: {
          ...{ 'requests admitted': 100, 'tokens refresh_token': 95, 'refusals invalid_token': 100 },
          ...{ 'refusals no_token': 5000, 'refusals access_denied': 50, 'refusals invalid_client': 50 },
        },
      },
      [],
    ],
    [
      'tokens that are refused',
      { 20: { 'requests admitted': 50, 'refusals insufficient_scope': 10 }, 2: { 'refusals invalid_grant': 40 } },
      [
        'warn: 50 of 100 requests with a token were refused (50%) in the last hour, the last at 11:58; most often: the code or refresh token is not valid (40).',
      ],
    ],
    [
      'a sign-in that does not answer',
      { 3: { 'sign-ins login_unavailable': 4, 'sign-ins success': 9 } },
      [
        'bad: Members cannot sign in: 4 of 13 sign-ins failed (31%) since 11:57; most often: your sign-in did not answer (4).',
      ],
    ],
  ])('of the last hour: %s', async (_what, minutes, expected) => {
    expect(await concerns({ period: await lastHour(minutes) })).toEqual(expected);
  });

  it('is slow responses, but not one slow request', async () => {
    const slow = (count: number) => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count, 0, 0, 0];
    expect(await concerns({ period: await lastHour({ 2: QUIET }, slow(60)) })).toEqual([]);
    expect(await concerns({ period: await lastHour({ 3: QUIET, 2: QUIET }, slow(60)) })).toEqual([
      'warn: Responses are slow: one of a hundred took longer than 2.5 s since 11:57.',
    ]);
  });

  it('is attempts that stop, but not those of scanners, members who cancel, or a few of many', async () => {
    const scope = (count: number) => Array.from({ length: count }, () => attempt(5, 'The token lacks a scope'));
    const of = (count: number, ...given: Parameters<typeof attempt>) =>
      Array.from({ length: count }, () => attempt(...given));
    const scanners = of(50, 5, 'The app went no further', { isNamed: false });
    const cancelled = of(20, 5, 'The member pressed Cancel', { id: 'consent-denied' });
    const old = of(9, 61, 'The app sends no code');
    const connected = of(30, 5, '', { stopped: false });
    expect(await concerns({ attempts: [...scanners, ...cancelled, ...old, ...scope(2)] })).toEqual([]);
    expect(await concerns({ attempts: [...connected, ...scope(3)] })).toEqual([]);
    expect(await concerns({ attempts: [...scope(4), ...of(3, 5, 'The code is late'), ...cancelled, ...old] })).toEqual([
      'warn: 27 attempts to connect stopped in the last hour (1 member); most often: the token lacks a scope (4).',
    ]);
  });

  it('is many upstreams in three lines, those first that members need', async () => {
    const [one, two] = [failing('ab', 'open', { apps: true }), failing('cdef', 'half_open', { events: true })];
    const upstreams = [...two, ...one, ...failing('g', 'open', { signIn: true })];
    expect(await concerns({ status: { ...WELL, upstreams } })).toEqual([
      'bad: Members cannot sign in: g has not answered since 10:40.',
      'bad: Apps cannot use its API: a has not answered since 10:40.',
      'bad: Apps cannot use their API, and their events wait: b, c and 3 more have not answered either.',
    ]);
  });

  it('is green only with something measured, and the worst comes first', async () => {
    const shown = async (minutes: Parameters<typeof lastHour>[0], evidence: Partial<GateFindings> = {}) =>
      verdict({ status: WELL, period: await lastHour(minutes), attempts: [], ...evidence }, TIMES, NOW).text;
    expect(await shown({})).toContain('class="notice calm">Nothing has been measured yet');
    expect(await shown({ 1: {} })).toContain('class="notice calm">No request came in the last hour');
    expect(await shown({ 1: QUIET })).toContain('class="notice good">Everything works. In the last hour, 100 requests');
    expect(await shown({ 1: QUIET }, { attempts: undefined })).toContain('those that stopped may go unseen');
    expect(await shown({ 1: QUIET }, { period: undefined })).toContain('failures may go unseen');
    const levels = (await concerns({ status: { ...WELL, observing: true, upstreams: failing('abcdefg') } })).map(
      (one) => one.split(':')[0],
    );
    expect(levels).toEqual([...Array.from({ length: 3 }, () => 'bad'), 'warn']);
  });
});

it('a panel that fails leaves the others and the page', async () => {
  const errors: unknown[] = [];
  const sources: Partial<ConsoleSources> = {
    gate: async () => WELL,
    times: createTimes('UTC', () => 0),
    clock: () => 0,
    onError: (one) => errors.push(one),
    traffic: { recent: () => Promise.reject(new Error('no data')) },
    recorder: { list: async () => [] },
    directory: {
      look() {
        throw new Error('no rows');
      },
    } as unknown as ConsoleSources['directory'],
  };
  const { text } = (await overviewPage(sources as ConsoleSources)).body;
  expect(text.split('This cannot be shown right now.')).toHaveLength(2);
  expect(text).toContain('failures may go unseen');
  expect(text).toContain('None in the last 24 hours.');
  expect(text).not.toContain('no data');
  expect(errors).toEqual(expect.arrayContaining([new Error('no data'), new Error('no rows')]));
});

describe('the admin listener in a browser', () => {
  let world: World;
  beforeAll(async () => {
    world = await startConsoleWorld();
  });
  afterAll(() => world.close());

  it('leads to the console, and tells programs what it always did', async () => {
    const root = await ask(world.admin, '/');
    expect([root.status, root.location, root.headers['cache-control']]).toEqual([303, '/console', 'no-store']);
    for (const accept of ['*/*', 'application/json', 'text/plain'])
      expect(await ask(world.admin, '/', { headers: { accept } })).toMatchObject({ status: 404, text: 'not found\n' });
  });

  it.each([
    ['/nowhere', 404, {}],
    ['/metrics', 403, { origin: 'https://evil.example' }],
    ['/livez', 421, { host: 'evil.example' }],
  ])('answers %s with %i as a page', async (path, status, headers) => {
    const page = await ask(world.admin, path, { headers });
    expect(page.status).toBe(status);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(page.text).toContain('<h1>');
    const program = await ask(world.admin, path, { headers: { accept: '*/*', ...headers } });
    expect([program.status, program.headers['content-type']]).toEqual([status, 'text/plain; charset=utf-8']);
  });
});
