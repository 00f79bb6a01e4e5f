import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type PresetAccount, presetAccount } from './recorded/preset-account.ts';

const QUERY = `{ viewer { id email name enrolledCourses(first: 10) { totalCount pageInfo { hasNextPage } nodes {
  slug title url expireDate hasLifetimeAccess progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`;
const ENVIRONMENT = { COURSEGATE_KEY: 'm'.repeat(64), COURSEGATE_ADMIN_SECRET: 'a'.repeat(44) };

/** What the pages of the plugin answered on a real Moodle; recorded by moodle-real.test.ts. */
const recorded = (name: string) =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`recorded/moodle/${name}.json`, import.meta.url)), 'utf8'));

const open: PresetAccount[] = [];
afterEach(async () => {
  for (const account of open.splice(0)) await account.close();
});

async function moodle(courses: { status?: number; body: unknown }) {
  const preset = await presetAccount(
    'moodle',
    ({ url }) => (url.pathname === '/local/coursegate/me.php' ? { body: recorded('me') } : courses),
    { environment: ENVIRONMENT },
  );
  open.push(preset);
  return preset;
}

describe('the Moodle mapping', () => {
  it('returns the account and the courses, each by one call', async () => {
    const { account, asked } = await moodle({ body: recorded('courses') });
    const { body } = await account.ask(QUERY);
    expect(body).toEqual({
      data: {
        viewer: {
          id: '42',
          email: 'sam@example.com',
          name: 'Sam Ortiz',
          enrolledCourses: {
            totalCount: 3,
            pageInfo: { hasNextPage: false },
            nodes: [
              {
                slug: 'BOT',
                title: 'Bäume & „Blumen“ – O’Neill',
                url: 'https://school.example/course/view.php?id=1',
                expireDate: null,
                hasLifetimeAccess: true,
                progressPercent: expect.closeTo(33.333, 3),
                lastWatchedLecture: { lectureId: '2', positionSeconds: 0 },
              },
              {
                slug: 'KNOTS',
                title: 'Knoten',
                url: 'https://school.example/course/view.php?id=2',
                expireDate: '2027-12-08T07:00:00Z',
                hasLifetimeAccess: false,
                progressPercent: null,
                lastWatchedLecture: null,
              },
              {
                slug: 'SAILS',
                title: 'Sails & ropes',
                url: 'https://school.example/course/view.php?id=3',
                expireDate: null,
                hasLifetimeAccess: true,
                progressPercent: null,
                lastWatchedLecture: null,
              },
            ],
          },
        },
      },
    });
    expect(asked.map(({ method, url }) => `${method} ${url.pathname}${url.search}`)).toEqual([
      'GET /local/coursegate/me.php',
      'GET /local/coursegate/courses.php',
    ]);
  });

  it('returns an empty list for a member without courses', async () => {
    const { account } = await moodle({ body: { courses: [] } });
    const { body } = await account.ask(QUERY);
    expect(body.errors).toBeUndefined();
    expect(body.data.viewer.enrolledCourses).toEqual({ totalCount: 0, pageInfo: { hasNextPage: false }, nodes: [] });
  });

  it.each([
    [503, { error: 'moodle', code: 'dmlreadexception' }],
    [403, { error: 'moodle', code: 'sitepolicynotagreed' }],
    [401, { error: 'assertion', message: 'expired' }],
  ])('reports a failure with %i, and returns the rest', async (status, body) => {
    const { account } = await moodle({ status, body });
    const answer = await account.ask(QUERY);
    expect(answer.body.data.viewer).toEqual({
      id: '42',
      email: 'sam@example.com',
      name: 'Sam Ortiz',
      enrolledCourses: null,
    });
    expect(answer.body.errors).toMatchObject([{ path: ['viewer', 'enrolledCourses'] }]);
    expect(answer.text).not.toMatch(/dml|policy|expired/);
  });
});
