import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { olu, ROLES_KEY, type RolesSchool, rolesFrom, sam, startRolesSchool } from './roles-school.ts';

let world: World;
let school: RolesSchool;
let legacy: RecordingUpstream;
let now = Date.now();
let tokens: { readonly sam: string; readonly olu: string };

beforeAll(async () => {
  [school, legacy] = await Promise.all([startRolesSchool(), startRecordingUpstream()]);
  const { upstreams, roles } = rolesFrom(school);
  const route = { upstream: 'legacy', scopes: [], anonymous: 'refuse' };
  world = await startWorld({
    profile: 'A',
    clock: () => Date.now(),
    environment: { ROLES_KEY },
    overrides: {
      upstreams: { ...upstreams, legacy: { url: legacy.url } },
      roles,
      constants: { roles: { timeout: 1 } },
      tokens: { access: '24h' },
      routes: [
        { match: 'GET /v/school', role: 'admin', ...route },
        { match: 'GET /v/query', role: 'instructor of {query.course}', ...route },
        { match: 'GET|POST /v/{courseId}/grades', role: 'instructor of {path.courseId}', ...route },
      ],
    },
  });
  const app = await registerApp(world.origin);
  tokens = {
    sam: (await connect(app)).access_token,
    olu: (await connect(app, { member: OLU })).access_token,
  };
});
afterAll(async () => {
  await world.close();
  await Promise.all([school.upstream.close(), legacy.close()]);
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  // Nothing that an earlier test has asked is still used.
  now += 600_000;
  vi.setSystemTime(now);
  school.recover();
  school.records.clear();
  school.records.set(sam, { courses: { algebra: 'instructor' } });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const ask = async (
  path: string,
  of: 'sam' | 'olu' = 'sam',
  more: Omit<Parameters<typeof rawRequest>[1], 'path'> = {},
) => {
  const before = legacy.requests.length;
  const answer = await rawRequest(world.origin, { path, ...more, headers: { ...bearer(tokens[of]), ...more.headers } });
  return { ...answer, reached: legacy.requests.length - before };
};
const statusOf = async (path: string, of: 'sam' | 'olu' = 'sam') => (await ask(path, of)).status;

describe('the question for a member’s roles', () => {
  it('is asked by id, with the key, once for all requests of the interval, and for each member', async () => {
    const before = school.asked().length;
    school.records.set(olu, { courses: { botany: 'instructor' } });
    const all = await Promise.all(Array.from({ length: 8 }, () => statusOf('/v/algebra/grades')));
    expect(all).toEqual([200, 200, 200, 200, 200, 200, 200, 200]);
    pass(59_000);
    expect(await statusOf('/v/botany/grades')).toBe(403);
    expect(school.asked().slice(before)).toEqual([`/internal/roles/${sam}`]);
    const { method, values } = school.upstream.last();
    expect({ method, cookie: values('cookie'), accept: values('accept') }).toEqual({
      method: 'GET',
      cookie: [],
      accept: ['application/json'],
    });
    expect([await statusOf('/v/algebra/grades', 'olu'), await statusOf('/v/botany/grades', 'olu')]).toEqual([403, 200]);
    expect(school.asked().slice(before)).toEqual([`/internal/roles/${sam}`, `/internal/roles/${olu}`]);
  });

  it('is not asked for a request that needs no role', async () => {
    const before = school.asked().length;
    expect(await statusOf('/api/v1/whoami')).toBe(200);
    expect(school.asked().length).toBe(before);
  });

  it('shows within a minute that a role has ended, and that one was given', async () => {
    expect(await statusOf('/v/algebra/grades')).toBe(200);
    school.records.set(sam, { courses: { botany: 'instructor' } });
    pass(59_000);
    expect(await statusOf('/v/algebra/grades')).toBe(200);
    pass(1000);
    expect([await statusOf('/v/algebra/grades'), await statusOf('/v/botany/grades')]).toEqual([403, 200]);
  });

  it('is asked again when the gate’s clock was set back', async () => {
    expect(await statusOf('/v/algebra/grades')).toBe(200);
    school.records.set(sam, {});
    pass(-30_000);
    expect(await statusOf('/v/algebra/grades')).toBe(403);
  });

  it.each([404, 410])('finds no roles in a %i', async (status) => {
    school.upstream.script((_, response) => void response.writeHead(status).end());
    expect(await statusOf('/v/algebra/grades')).toBe(403);
  });
});

const json =
  (body: unknown, status = 200): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const courses = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, 'a']));

describe('an answer about roles', () => {
  it.each<[string, unknown]>([
    ['an object of texts', { courses: { algebra: 'instructor' } }],
    ['an object of lists', { courses: { algebra: ['student', 'editingteacher'] } }],
    [
      'a list of objects',
      {
        courses: [
          { course: 'botany', role: 'student' },
          { course: 'algebra', role: 'instructor' },
        ],
      },
    ],
    [
      'a list with a course twice',
      {
        courses: [
          { course: 'algebra', role: 'instructor' },
          { course: 'algebra', role: 'student' },
        ],
      },
    ],
    ['as many courses as can be', { courses: { ...courses(4999), algebra: 'instructor' } }],
  ])('can be %s', async (_name, member) => {
    school.upstream.script(json({ member }));
    expect([await statusOf('/v/algebra/grades'), await statusOf('/v/botany/grades')]).toEqual([200, 403]);
  });

  it('can have numbers as ids', async () => {
    school.upstream.script(json({ member: { courses: [{ course: 7, role: ['instructor'] }] } }));
    expect([await statusOf('/v/7/grades'), await statusOf('/v/07/grades')]).toEqual([200, 403]);
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['null', { member: { school: null, courses: null } }],
    ['PHP’s empty list for an empty object', { member: { courses: [] } }],
    ['no role in a course', { member: { courses: { algebra: [] } } }],
    ['a role at the school of the same name', { member: { school: 'instructor' } }],
    ['the role in other letters', { member: { courses: { algebra: 'Instructor' } } }],
    ['the course in other letters', { member: { courses: { Algebra: 'instructor' } } }],
  ])('with %s gives none', async (_name, body) => {
    school.upstream.script(json(body));
    expect(await statusOf('/v/algebra/grades')).toBe(403);
  });

  const held = { algebra: 'instructor' };
  it.each<[string, Script]>([
    ['an error', json('', 500)],
    ['a refusal of the key', json({ member: { courses: held } }, 401)],
    ['a redirect', (_, response) => void response.writeHead(302, { location: '/login' }).end()],
    ['a page', json('<html>')],
    ['a text for the courses', json({ member: { courses: 'algebra' } })],
    ['a number as a role', json({ member: { courses: { ...held, botany: 5 } } })],
    ['an object as a role', json({ member: { courses: { ...held, botany: { a: 'b' } } } })],
    [
      'an entry without a course',
      json({ member: { courses: [{ course: 'algebra', role: 'instructor' }, { role: 'x' }] } }),
    ],
    ['an empty role', json({ member: { school: '', courses: held } })],
    ['a role of 65 characters', json({ member: { school: 'x'.repeat(65), courses: held } })],
    ['a course id of 201 characters', json({ member: { courses: { ...held, ['x'.repeat(201)]: 'a' } } })],
    ['5,001 courses', json({ member: { courses: { ...courses(5000), ...held } } })],
    ['more than 64 KiB', json({ member: { courses: held, more: 'x'.repeat(64 * 1024) } })],
    ['no answer', (_, response) => void response.destroy()],
    ['nothing in time', () => {}],
  ])('that is %s is a 503 without an upstream call, and not kept', async (_name, script) => {
    school.upstream.script(script);
    const { status, headers, text, reached } = await ask('/v/algebra/grades');
    expect({ status, reached, challenge: headers['www-authenticate'] }).toEqual({
      status: 503,
      reached: 0,
      challenge: undefined,
    });
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(text)).toMatchObject({ title: 'The roles of members cannot be read right now.' });
    school.recover();
    expect(await statusOf('/v/algebra/grades')).toBe(200);
  });
});

describe('the course of a request', () => {
  it.each([
    '/v/botany/grades',
    '/v/ALGEBRA/grades',
    '/v/algebra%20/grades',
    '/v/algebra%2Fx/grades',
    '/v/algebra;x/grades',
    '/v/botany/../algebra/grades',
    '/v/%2e%2e/algebra/grades',
    '/v/algebra%2561/grades',
    '/v/constructor/grades',
    '/v/__proto__/grades',
    '/v/{courseId}/grades',
    '/v/query',
    '/v/query?course=botany',
    '/v/query?course=algebra&course=botany',
    '/v/query?course=botany&course=algebra',
    '/v/query?course=algebra&Course=botany',
    '/v/query?course=algebra&course[]=botany',
    '/v/query?course=algebra&c%6Furse=botany',
    '/v/query?course=algebra;course=botany',
    '/v/query?course=algebra&x=1%26course=botany',
    '/v/query?course[]=algebra',
    '/v/query?COURSE=algebra',
    '/v/query?course=%2561lgebra',
    '/v/query?course=algebra%00',
    '/v/query?course=%ff',
  ])('is not found in %s', async (path) => {
    const { status, reached } = await ask(path);
    expect([400, 403, 404]).toContain(status);
    expect(reached).toBe(0);
  });

  it('is found in the query once, beside others', async () => {
    expect(await statusOf('/v/query?page=2&course=algebra&sort=x')).toBe(200);
    expect(await statusOf('/v/query?course=alg%65bra')).toBe(200);
  });

  it('is not found in a query that a body could overrule', async () => {
    const { status, reached } = await ask('/v/query?course=algebra', 'sam', {
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '13' },
      body: 'course=botany',
    });
    expect({ status, reached }).toEqual({ status: 403, reached: 0 });
  });

  it('cannot be said by a header field', async () => {
    const { status } = await ask('/v/botany/grades', 'sam', { headers: { 'x-original-url': '/v/algebra/grades' } });
    expect(status).toBe(403);
  });

  it('needs a token in any case', async () => {
    const { status, headers } = await rawRequest(world.origin, { path: '/v/algebra/grades' });
    expect({ status, challenge: headers['www-authenticate']?.startsWith('Bearer ') }).toEqual({
      status: 401,
      challenge: true,
    });
  });
});
