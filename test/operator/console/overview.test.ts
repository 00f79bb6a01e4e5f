import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTimes } from '../../../src/operator/console/kit/times.ts';
import { signLink } from '../../../src/operator/console/link.ts';
import { concernsOf } from '../../../src/operator/console/overview/attention.ts';
import type { GateStatus } from '../../../src/operator/console/overview/gate-status.ts';
import { overviewPage } from '../../../src/operator/console/overview/overview-page.ts';
import type { ConsoleSources } from '../../../src/operator/console/sources.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';
import type { World } from '../../support/world.ts';
import { ask, type ConsoleSession, openConsole, startConsoleWorld } from './support/console.ts';

const HMAC = { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } };

/** Nothing listens there, and the breaker stays open for longer than the test. */
const FAILING = {
  upstreams: { school: { url: 'http://127.0.0.1:9' } },
  constants: { upstreams: { school: { breaker: { cooldown: 600 } } } },
};

describe('the first page', () => {
  let world: World;
  let session: ConsoleSession;
  beforeAll(async () => {
    world = await startConsoleWorld({ overrides: { ...HMAC, ...FAILING } });
    session = await openConsole(world);
  });
  afterAll(() => world.close());
  const page = async () => (await session.get('/console')).text;

  it('says that everything works, and shows the state of the gate', async () => {
    const text = await page();
    expect(text).toContain('Everything works.');
    expect(text).toMatch(/<span class="badge good">ready<\/span> Running for/);
    // What has a card of its own is not listed as a check, too.
    const [, checks = ''] = /Running for[^<]*<\/p>\n<dl class="facts">(.*?)<\/dl>/s.exec(text) ?? [];
    expect([...checks.matchAll(/<dt>(.*?)<\/dt>/g)].map(([, name]) => name)).toEqual(['Store', 'Traffic']);
    expect(text).toMatch(/SQLite, of this gate alone, [\d.]+ (?:KiB|MiB)/);
    expect(text.match(/<th scope="row">(?:ES|RS)256/g)).toHaveLength(2);
    expect(text).toMatch(/<th scope="row">school<small>http:\/\/127\.0\.0\.1:9<\/small>/);
    expect(text).toContain('<span class="badge good">enforced</span>');
    expect(text).toMatch(/<code>[0-9a-f]{16}<\/code>/);
    expect(text).toContain('action="/console/search"');
  });

  it('names the upstream that fails', async () => {
    for (let times = 0; times < 5; times += 1) await fetch(`${world.origin}/`);
    const text = await page();
    expect(text).toContain('One upstream is failing: school.');
    expect(text).toContain('<span class="badge bad">failing</span>');
    expect(text).not.toContain('Everything works.');
  });

  it('says that the configuration on disk was refused, with the one that serves', async () => {
    const fingerprint = /<code>([0-9a-f]{16})<\/code>/.exec(await page())?.[1];
    await world.reload({ ...HMAC, origin: 'nonsense' });
    const text = await page();
    expect(text).toContain('The configuration on disk has mistakes and was not loaded.');
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
      expect(text).toContain('The store cannot be used.');
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

const WELL: GateStatus = {
  health: { ok: true, text: 'ok', checks: [] },
  store: { kind: 'sqlite', bytes: 1 },
  keys: [],
  upstreams: [],
  reload: { successful: true, takenAt: 0, fingerprint: '' },
  config: { profile: 'A', routes: 1 },
  observing: false,
  unusedApps: [],
  events: undefined,
  uptime: 1,
};
const failing = (...names: string[]) =>
  names.map((name) => ({ name, origin: '', requests: 0, streams: 0, breaker: 'open' as const }));
const events = { upstream: 'school', path: '/events', pending: { grant: 2, client: 1 }, events: [] };

describe('what needs attention', () => {
  it.each<[string, Partial<GateStatus>]>([
    ['Two upstreams are failing: a and b.', { upstreams: failing('a', 'b') }],
    ['Seven upstreams are failing: a, b, c, d, e and 2 more.', { upstreams: failing(...'abcdefg') }],
    ['12 upstreams are failing:', { upstreams: failing(...'abcdefghijkl') }],
    [
      'One app never used the last three connections: a.example.',
      { unusedApps: [{ name: 'a.example', clientId: 'a' }] },
    ],
    ['the gate refuses nothing yet', { observing: true }],
    ['The backend answered 410', { events: { ...events, stopped_at: 'then' } }],
    ['Three events wait', { events: { ...events, last_failure: { at: 'then', reason: '500' } } }],
    ['This gate is shutting down.', { health: { ...WELL.health, checks: [{ name: 'drain', ok: false, detail: '' }] } }],
  ])('%s', (words, changed) => {
    const concerns = concernsOf({ ...WELL, ...changed }, 0);
    expect(concerns).toHaveLength(1);
    expect(concerns[0]?.text).toContain(words);
  });

  it('is nothing when all is well, and the worst first otherwise', () => {
    expect(concernsOf(WELL, 0)).toEqual([]);
    const levels = concernsOf({ ...WELL, observing: true, upstreams: failing('a') }, 0).map(({ level }) => level);
    expect(levels).toEqual(['bad', 'warn']);
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
      prepare() {
        throw new Error('no rows');
      },
    } as unknown as ConsoleSources['directory'],
  };
  const { text } = (await overviewPage(sources as ConsoleSources)).body;
  expect(text.split('This cannot be shown right now.')).toHaveLength(3);
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
