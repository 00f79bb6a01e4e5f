import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { load, mistakes, SMALL } from '../config/fixture.ts';
import { type App, bearer, registerApp } from '../support/app.ts';
import { connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { sam } from './roles-school.ts';

const KEY = 'recheck-key-0123456789';

describe('roles in the answer of the recheck', () => {
  let world: World;
  let backend: RecordingUpstream;
  let app: App;
  let said: { readonly status: number; readonly body: unknown };
  let now = Date.now();

  beforeAll(async () => {
    backend = await startRecordingUpstream((_, response) => {
      response.writeHead(said.status, { 'content-type': 'application/json' });
      response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
    });
    const route = { upstream: 'legacy', anonymous: 'refuse' };
    said = { status: 200, body: { active: true } };
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now(),
      environment: { KEY },
      // The demo has a question of its own.
      adjust: ({ roles, ...config }) => ({
        ...config,
        roles: roles && { ...roles, upstream: undefined, path: undefined },
      }),
      overrides: {
        upstreams: { registry: { url: backend.url, breaker: { failures: 0 } }, legacy: { url: backend.url } },
        login: {
          recheck: {
            upstream: 'registry',
            path: '/members/{member.id}',
            key: { header: 'X-Key', secret: { env: 'KEY' } },
            active: '/active',
          },
        },
        roles: { school: '/is', courses: '/in' },
        scopes: { 'courses:write': { role: 'instructor of any course' } },
        tokens: { access: '24h' },
        routes: [
          { match: 'GET /v/{courseId}', role: 'instructor of {path.courseId}', ...route },
          { match: 'GET /w', role: 'admin', ...route },
        ],
      },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await backend.close();
  });
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    // Nothing that an earlier test has asked is still used. After a day, an app that nobody has approved is forgotten.
    now += 23 * 3600_000;
    vi.setSystemTime(now);
    said = teacher;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const teacher = { status: 200, body: { active: true, is: ['staff'], in: { algebra: 'instructor' } } };
  const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
  const start = async () =>
    (await connect(app, {
      parameters: { scope: 'openid account:read courses:write offline_access' },
    })) as unknown as Tokens;
  const statusOf = async ({ access_token }: Pick<Tokens, 'access_token'>, path = '/v/algebra') =>
    (await fetch(`${world.origin}${path}`, { headers: bearer(access_token) })).status;

  it('are asked for with its key, and kept for a minute', async () => {
    const tokens = await start();
    expect([await statusOf(tokens), await statusOf(tokens, '/v/botany'), await statusOf(tokens, '/w')]).toEqual([
      200, 403, 403,
    ]);
    const asked = backend.requests.filter(({ target }) => target.startsWith('/members/'));
    expect(new Set(asked.map(({ target }) => target))).toEqual(new Set([`/members/${sam}`]));
    expect(asked.at(-1)?.values('x-key')).toEqual([KEY]);
    expect(asked.at(-1)?.values('cookie')).toEqual([]);
    said = { status: 200, body: { active: true, is: 'admin', in: [{ course: 'botany', role: 'instructor' }] } };
    pass(59_000);
    expect(await statusOf(tokens)).toBe(200);
    pass(1000);
    expect([await statusOf(tokens), await statusOf(tokens, '/v/botany'), await statusOf(tokens, '/w')]).toEqual([
      403, 200, 200,
    ]);
  });

  it('are asked for again at a refresh', async () => {
    const tokens = await start();
    expect(await statusOf(tokens)).toBe(200);
    said = { status: 200, body: { active: true } };
    const refreshed = await token(app, refreshForm(app, tokens.refresh_token));
    expect(refreshed.body.scope).not.toContain('courses:write');
    expect(await statusOf(refreshed.body)).toBe(403);
  });

  it.each([
    ['one who is not active', { status: 200, body: { ...teacher.body, active: false } }],
    ['one who has left', { status: 404, body: teacher.body }],
  ])('are none for %s', async (_who, body) => {
    const tokens = await start();
    pass(60_000);
    said = body;
    expect(await statusOf(tokens)).toBe(403);
  });

  it.each([
    ['an error', { status: 500, body: teacher.body }],
    ['a page', { status: 200, body: '<html>' }],
    ['no word on whether they are active', { status: 200, body: { in: teacher.body.in } }],
    ['a number as a role', { status: 200, body: { active: true, in: { algebra: 5 } } }],
  ])('that are %s are a 503', async (_what, body) => {
    const tokens = await start();
    pass(60_000);
    said = body;
    expect(await statusOf(tokens)).toBe(503);
    said = teacher;
    expect(await statusOf(tokens)).toBe(200);
  });
});

describe('roles without a question of their own', () => {
  const RECHECK = '  recheck: { upstream: school, path: "/m/{member.id}" }\n';
  const config = (roles: string, recheck = RECHECK) =>
    `${SMALL}anonymous: refuse\nroles: ${roles}\n`.replace(/^login:\n/m, `login:\n${recheck}`);
  const NEEDS =
    'roles: needs `upstream` and `path`, or a `login.recheck` in JSON: the gate asks for roles again while the member is away, and whoami cannot say them then';
  const BOTH =
    'roles: must have upstream and path, or neither of them and no key: then the answer of login.recheck has the roles';

  it('are read in the answer of the recheck', async () => {
    expect((await load(config('{ courses: /courses }'))).config.roles?.courses).toBe('/courses');
  });

  it.each([
    ['{ courses: /courses }', '', NEEDS],
    ['{ courses: /courses }', RECHECK.replace('}" }', '}", format: header }'), NEEDS],
    ['{ courses: /courses, upstream: school }', RECHECK, BOTH],
    ['{ courses: /courses, path: "/r/{member.id}" }', RECHECK, BOTH],
    ['{ courses: /courses, key: { secret: { env: KEY } } }', RECHECK, BOTH],
  ])('as %s with %o are refused', async (roles, recheck, message) => {
    expect(await mistakes(config(roles, recheck))).toContainEqual(expect.stringContaining(message));
  });
});
