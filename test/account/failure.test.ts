import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CONTRACT_QUERY, callOver, startAccount, type TestAccount } from './support/account.ts';
import { enrolment, sendJson, startSchool, type TestSchool } from './support/school.ts';

const SECRET = 'db-7.internal password=hunter2';

let school: TestSchool;
let account: TestAccount;
const started: TestAccount[] = [];

async function start(...args: Parameters<typeof startAccount>): Promise<TestAccount> {
  const one = await startAccount(...args);
  started.push(one);
  return one;
}

beforeAll(async () => {
  school = await startSchool(130);
});
afterAll(() => school.close());
beforeEach(async () => {
  school.reset();
  account = await start({ call: callOver(school.origin, 300) });
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.close();
});

type Break = TestSchool['replies']['member'];
const BREAKS: [name: string, code: string, reply: Break][] = [
  ['destroyed', 'UPSTREAM_UNAVAILABLE', (_seen, response) => void response.destroy()],
  ['hanging', 'UPSTREAM_TIMEOUT', () => {}],
  ['503', 'UPSTREAM_ERROR', (_seen, response) => sendJson(response, { error: SECRET }, 503)],
  [
    'a redirect',
    'UPSTREAM_ERROR',
    (_seen, response) => void response.writeHead(302, { location: '/login' }).end(SECRET),
  ],
  ['no JSON', 'UPSTREAM_BAD_RESPONSE', (_seen, response) => void response.writeHead(200).end(`<b>${SECRET}`)],
];

describe.each(BREAKS)('an upstream that is %s', (_name, code, reply) => {
  test('leaves the courses when it serves their progress, with one error for each node', async () => {
    school.replies.positions = reply;
    const { status, body, text } = await account.ask(CONTRACT_QUERY, { n: 3 });
    expect(status).toBe(200);
    expect(body.data.viewer.enrolledCourses.nodes).toMatchObject([
      { slug: 'course-0', lastWatchedLecture: null },
      { slug: 'course-1', lastWatchedLecture: null },
      { slug: 'course-2', lastWatchedLecture: null },
    ]);
    expect(body.errors.map(({ path }: { path: unknown }) => path)).toEqual(
      [0, 1, 2].map((index) => ['viewer', 'enrolledCourses', 'nodes', index, 'lastWatchedLecture']),
    );
    expect(body.errors.every(({ extensions }: { extensions: object }) => extensions)).toBe(true);
    expect(body.errors[0].extensions).toEqual({ code });
    expectNothingOfTheUpstream(text);
  });

  test('leaves the viewer when it serves the enrolments', async () => {
    school.replies.enrolments = reply;
    const { status, body, text } = await account.ask(CONTRACT_QUERY, { n: 3 });
    expect(status).toBe(200);
    expect(body.data.viewer).toEqual({ id: 'm-1001', email: 'student@example.com', enrolledCourses: null });
    expect(body.errors).toMatchObject([{ path: ['viewer', 'enrolledCourses'], extensions: { code } }]);
    expectNothingOfTheUpstream(text);
  });
});

function expectNothingOfTheUpstream(text: string): void {
  for (const part of ['hunter2', '127.0.0.1', school.origin, 'ECONN', '/api/v1', '/v2/', 'school', 'progress']) {
    expect(text).not.toContain(part);
  }
}

describe('an unusual upstream response', () => {
  test('with 404 is null for an object and an empty list for a list', async () => {
    for (const part of ['member', 'enrolments', 'positions'] as const) {
      school.replies[part] = (_seen, response) => sendJson(response, { error: 'no' }, 404);
    }
    const { body } = await account.ask(CONTRACT_QUERY, { n: 3 });
    expect(body).toEqual({ data: { viewer: { id: 'm-1001', email: null, enrolledCourses: { nodes: [] } } } });
  });

  test('without an email leaves the one from the sign-in', async () => {
    school.replies.member = (_seen, response) => sendJson(response, { data: {} });
    expect((await account.ask('{ viewer { email } }')).body.data.viewer.email).toBe('token@example.com');
  });

  const page = (data: unknown, meta: object = { total: 1, next_page: null }): Break => {
    return (_seen, response) => sendJson(response, { data, meta });
  };

  test('with one invalid date affects only that date', async () => {
    school.replies.enrolments = page([{ ...enrolment(0), expires_at: SECRET }, enrolment(2)], {
      total: 2,
      next_page: null,
    });
    const { body, text } = await account.ask('{ viewer { enrolledCourses { nodes { slug expireDate } } } }');
    expect(body.data.viewer.enrolledCourses.nodes).toEqual([
      { slug: 'course-0', expireDate: null },
      { slug: 'course-2', expireDate: '2027-01-01T00:00:00Z' },
    ]);
    expect(body.errors).toMatchObject([
      { path: ['viewer', 'enrolledCourses', 'nodes', 0, 'expireDate'], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } },
    ]);
    expectNothingOfTheUpstream(text);
    expect(account.errors).toHaveLength(1);
  });

  test.each<[string, Break]>([
    ['a missing slug', page([{ ...enrolment(0), course: { secret: SECRET } }])],
    ['a row that is a string', page([SECRET])],
    ['not a list', page({ rows: SECRET })],
    ['a page that is too long', page(Array.from({ length: 51 }, (_, index) => enrolment(index)))],
    ['a short page that is not the last', page([enrolment(0)], { total: 130, next_page: 2 })],
    ['a total that is a string', page([enrolment(0)], { total: SECRET, next_page: null })],
    ['an object as slug', page([{ ...enrolment(0), course: { slug: { [SECRET]: 1 } } }])],
  ])('with %s is UPSTREAM_BAD_RESPONSE, without its content', async (_name, reply) => {
    school.replies.enrolments = reply;
    const { body, text } = await account.ask(CONTRACT_QUERY, { n: 5 });
    expect(body.data.viewer).toMatchObject({ id: 'm-1001', enrolledCourses: null });
    expect(body.errors[0].extensions).toEqual({ code: 'UPSTREAM_BAD_RESPONSE' });
    expectNothingOfTheUpstream(text);
    expect(account.errors.length).toBeGreaterThan(0);
  });

  test('with a lecture ID of 64 bits keeps its digits', async () => {
    school.replies.positions = (_seen, response) =>
      void response.end('{"positions":[{"course_slug":"course-0","lecture_id":9223372036854775807,"position_ms":0}]}');
    const { body } = await account.ask(CONTRACT_QUERY, { n: 1 });
    expect(body.data.viewer.enrolledCourses.nodes[0].lastWatchedLecture).toEqual({
      lectureId: '9223372036854775807',
      positionSeconds: 0,
    });
  });

  test('with very many errors is cut to 100, with a count of the rest', async () => {
    school.replies.positions = (_seen, response) => sendJson(response, {}, 500);
    const { body } = await account.ask(
      '{ viewer { enrolledCourses(first: 100) { nodes { a: lastWatchedLecture { lectureId } b: lastWatchedLecture { lectureId } } } } }',
    );
    expect(body.errors).toHaveLength(100);
    expect(body.extensions).toEqual({ errorsLeftOut: 100 });
  });
});

describe('an operation that takes too long or is abandoned', () => {
  test('returns what has arrived by the deadline', async () => {
    const hurried = await start({ call: callOver(school.origin), deadline: 0.2 });
    school.replies.positions = () => {};
    const { status, body, text } = await hurried.ask(CONTRACT_QUERY, { n: 2 });
    expect(status).toBe(200);
    expect(body.data.viewer.email).toBe('student@example.com');
    expect(body.data.viewer.enrolledCourses.nodes).toMatchObject([{ slug: 'course-0' }, { slug: 'course-1' }]);
    expect(body.errors).toHaveLength(2);
    for (const { extensions } of body.errors) expect(extensions).toEqual({ code: 'UPSTREAM_TIMEOUT' });
    expect(text).not.toContain('Abort');
    await sleep(50);
    expect(hurried.errors).toEqual([]);
  });

  test('does not wait for a call that ignores the deadline', async () => {
    const deaf = await start({ call: () => new Promise(() => {}), deadline: 0.1 });
    const { body } = await deaf.ask('{ viewer { id email } }');
    expect(body.data.viewer).toEqual({ id: 'm-1001', email: null });
    expect(body.errors).toMatchObject([{ path: ['viewer', 'email'], extensions: { code: 'UPSTREAM_TIMEOUT' } }]);
    expect(body.errors[0].message).toBe('The service behind this field took too long to respond.');
    expect(deaf.errors).toEqual([]);
  });

  test('aborts its upstream calls when the client disconnects', async () => {
    let aborted: Promise<void> | undefined;
    const slow = await start({
      deadline: 3600,
      call: ({ signal }) =>
        new Promise((_resolve, reject) => {
          aborted = new Promise((resolve) => {
            signal?.addEventListener('abort', () => {
              resolve();
              reject(new Error('aborted'));
            });
          });
        }),
    });
    const leaving = new AbortController();
    const asked = fetch(slow.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ viewer { email } }' }),
      signal: leaving.signal,
    });
    await expect.poll(() => aborted !== undefined).toBe(true);
    leaving.abort();
    await expect(asked).rejects.toThrow();
    await aborted;
  });

  test('returns "Unexpected error." for anything else, which is logged', async () => {
    const fault = new TypeError(SECRET);
    const faulty = await start({ call: () => Promise.reject(fault) });
    const { body, text } = await faulty.ask('{ viewer { id email } }');
    expect(body.data.viewer).toEqual({ id: 'm-1001', email: null });
    expect(body.errors).toMatchObject([
      { message: 'Unexpected error.', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
    ]);
    expect(text).not.toContain('hunter2');
    expect(faulty.errors).toEqual([fault]);
  });
});
