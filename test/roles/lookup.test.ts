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
        { match: 'POST /v/body', role: 'instructor of {body.course}', bodyLimit: '2KiB', ...route },
        {
          ...{ match: 'POST /v/own', role: 'instructor of {body.course}', ...route },
          ...{ query: { teacher: '{member.id}' }, body: { author: '{member.id}' } },
        },
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

describe('the course in a body', () => {
  const JSON_TYPE = 'application/json';
  const FORM = 'application/x-www-form-urlencoded';
  const send = (type: string, body: string | Buffer, path = '/v/body', more = {}) =>
    ask(path, 'sam', {
      method: 'POST',
      body,
      headers: { 'content-type': type, 'content-length': Buffer.byteLength(body), ...more },
    });
  const outcome = async (type: string, body: string | Buffer, path?: string) => {
    const { status, reached } = await send(type, body, path);
    return { status, reached };
  };

  it.each([
    [JSON_TYPE, '{"course":"algebra"}'],
    [JSON_TYPE, ' { "grade": 1.50, "other": {"course": "botany"}, "c\\u006furse" : "alg\\u0065bra", "a": [1] }\n'],
    ['application/vnd.api+json; charset=UTF-8', '{"course":"algebra"}'],
    [FORM, 'course=algebra'],
    [FORM, 'grade=1.50&course=alg%65bra&note=a+%2B+b%20%C3%A9'],
    [`${FORM};charset=utf-8`, 'a[]=1&a[]=2&course=algebra'],
  ])('is found in %s %s, which is sent on unchanged', async (type, body) => {
    expect(await outcome(type, body)).toEqual({ status: 200, reached: 1 });
    expect(String(legacy.last().body)).toBe(body);
    expect(legacy.last().values('content-length')).toEqual([String(Buffer.byteLength(body))]);
    expect(legacy.last().values('content-type')).toEqual([type]);
  });

  it('is found in a body of unknown length, and in one that waits to be asked for', async () => {
    for (const more of [
      { 'transfer-encoding': 'chunked', 'content-length': undefined },
      { expect: '100-continue', 'content-length': 20 },
    ]) {
      const fields = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined));
      const { status, reached } = await ask('/v/body', 'sam', {
        ...{ method: 'POST', body: '{"course":"algebra"}', headers: { 'content-type': JSON_TYPE, ...fields } },
      });
      expect({ status, reached }).toEqual({ status: 200, reached: 1 });
      expect(String(legacy.last().body)).toBe('{"course":"algebra"}');
    }
  });

  it('can be a whole number', async () => {
    school.records.set(sam, { courses: { '7': 'instructor' } });
    expect(await outcome(JSON_TYPE, '{"course":7}')).toEqual({ status: 200, reached: 1 });
    expect(await outcome(JSON_TYPE, '{"course":8}')).toEqual({ status: 403, reached: 0 });
  });

  it.each([
    [JSON_TYPE, '{"course":"botany"}'],
    [JSON_TYPE, '{"course":"Algebra"}'],
    [JSON_TYPE, '{"course":"algebra\\u0000"}'],
    [JSON_TYPE, '{"course":""}'],
    [JSON_TYPE, '{"other":{"course":"algebra"}}'],
    [JSON_TYPE, '{}'],
    [FORM, 'course=botany'],
    [FORM, 'course=algebra%20'],
    [FORM, 'other=algebra'],
    [FORM, 'course='],
  ])('is not one that the member teaches in %s %s', async (type, body) => {
    expect(await outcome(type, body)).toEqual({ status: 403, reached: 0 });
  });

  it('is not there without a body', async () => {
    expect(await outcome(JSON_TYPE, '')).toEqual({ status: 403, reached: 0 });
    expect(await outcome('text/plain', '')).toEqual({ status: 403, reached: 0 });
  });

  it.each([
    [JSON_TYPE, '{"course":"algebra","course":"algebra"}'],
    [JSON_TYPE, '{"course":"algebra","course":"botany"}'],
    [JSON_TYPE, '{"course":"botany","c\\u006furse":"algebra"}'],
    [JSON_TYPE, '{"course":"algebra","Course":"botany"}'],
    [JSON_TYPE, '{"course":"algebra","course[]":"botany"}'],
    [JSON_TYPE, '{"course":"algebra","__proto__":{"course":"botany"}}'],
    [JSON_TYPE, '{"COURSE":"algebra"}'],
    [JSON_TYPE, '{"course":["algebra"]}'],
    [JSON_TYPE, '{"course":{"id":"algebra"}}'],
    [JSON_TYPE, '{"course":null}'],
    [JSON_TYPE, '{"course":true}'],
    [JSON_TYPE, '{"course":1.5}'],
    [JSON_TYPE, '{"course":90071992547409930}'],
    [JSON_TYPE, '[{"course":"algebra"}]'],
    [JSON_TYPE, '"algebra"'],
    [JSON_TYPE, '{"course":"algebra"'],
    [JSON_TYPE, '{"course":"algebra"} {"course":"botany"}'],
    [JSON_TYPE, "{course:'algebra'}"],
    [JSON_TYPE, Buffer.from('{"course":"algebra","x":"\xff"}', 'latin1')],
    [FORM, 'course=algebra&course=botany'],
    [FORM, 'course=algebra&course=algebra'],
    [FORM, 'course=algebra;course=botany'],
    [FORM, 'course=algebra&Course=botany'],
    [FORM, 'course=algebra&course[]=botany'],
    [FORM, 'course=algebra&c%6Furse=botany'],
    [FORM, 'course=algebra&x=1%26course=botany'],
    [FORM, 'course[]=algebra'],
    [FORM, 'COURSE=algebra'],
    [FORM, 'course=%2561lgebra'],
    [FORM, 'course=algebra%'],
    [FORM, 'course=algebra\r\ncourse=botany'],
    [FORM, 'course=algebra&n=\u00e9'],
    [FORM, 'course'],
  ])('is refused where servers could read another one: %s %s', async (type, body) => {
    expect(await outcome(type, body)).toEqual({ status: 400, reached: 0 });
  });

  it.each(['course=botany', 'course=algebra', 'Course=x', 'x=1%26course=botany', 'course[]=botany'])(
    'is refused beside one in the query: %s',
    async (query) => {
      expect(await outcome(JSON_TYPE, '{"course":"algebra"}', `/v/body?${query}`)).toEqual({ status: 400, reached: 0 });
    },
  );

  it.each([
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/xml',
    'application/x-ndjson',
  ])('is not looked for in %s', async (type) => {
    expect(await outcome(type, '{"course":"algebra"}')).toEqual({ status: 415, reached: 0 });
  });

  it('is not looked for in a compressed body, in one of two types, or in one that is too large', async () => {
    const body = '{"course":"algebra"}';
    expect((await send(JSON_TYPE, body, '/v/body', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await send(JSON_TYPE, body, '/v/body', { 'content-type': [JSON_TYPE, FORM] })).status).toBeGreaterThan(399);
    const large = `{"course":"algebra","x":"${'x'.repeat(2048)}"}`;
    expect(await outcome(JSON_TYPE, large)).toEqual({ status: 413, reached: 0 });
    const chunked = await ask('/v/body', 'sam', {
      method: 'POST',
      body: large,
      headers: { 'content-type': JSON_TYPE, 'transfer-encoding': 'chunked' },
    });
    expect({ status: chunked.status, reached: chunked.reached }).toEqual({ status: 413, reached: 0 });
  });

  it('is read beside what the route fills in', async () => {
    const body = '{"course":"algebra","author":"m-1002"}';
    expect(await outcome(JSON_TYPE, body, '/v/own?teacher=m-1002&page=2')).toEqual({ status: 200, reached: 1 });
    expect(JSON.parse(String(legacy.last().body))).toEqual({ author: sam, course: 'algebra' });
    expect(legacy.last().target).toBe(`/v/own?teacher=${sam}&page=2`);
    expect(await outcome(JSON_TYPE, body.replace('algebra', 'botany'), '/v/own')).toEqual({ status: 403, reached: 0 });
    expect(await outcome(FORM, 'course=algebra', '/v/own')).toEqual({ status: 415, reached: 0 });
  });

  it('is not read for a member who has no token', async () => {
    const { status } = await rawRequest(world.origin, {
      path: '/v/body',
      method: 'POST',
      body: '{"course"',
      headers: { 'content-type': JSON_TYPE, 'content-length': 9 },
    });
    expect(status).toBe(401);
  });
});
