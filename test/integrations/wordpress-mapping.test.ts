import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type PresetAccount, presetAccount } from './recorded/preset-account.ts';

const QUERY = `{ viewer { id email name enrolledCourses(first: 10) { totalCount pageInfo { hasNextPage } nodes {
  slug title url expireDate hasLifetimeAccess progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`;
const ENVIRONMENT = { COURSEGATE_KEY: 'm'.repeat(64), COURSEGATE_ADMIN_SECRET: 'a'.repeat(44) };

/** A response that `wordpress-courses.test.ts` recorded, of the member 4. */
const recorded = (name: string) =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`recorded/wordpress/${name}.json`, import.meta.url)), 'utf8'));

const open: PresetAccount[] = [];
afterEach(async () => {
  for (const account of open.splice(0)) await account.close();
});

/** The Account API over a WordPress with this response for the pages of courses. */
async function wordpress(courses: (page: number) => { status?: number; body: unknown }) {
  const preset = await presetAccount(
    'wordpress',
    ({ url }) =>
      url.pathname === '/wp-json/coursegate/v1/me'
        ? { body: recorded('me') }
        : courses(Number(url.searchParams.get('page'))),
    { member: '4', environment: ENVIRONMENT },
  );
  open.push(preset);
  return preset;
}

describe('the WordPress mapping', () => {
  it.each([
    ['lifterlms', '2037-01-01T04:59:59Z', false, 0],
    ['tutor', null, true, 93],
    ['sensei-lms', null, true, 0],
    ['learnpress', '2036-10-19T12:30:00Z', false, 0],
  ])(
    'returns the courses that the drop-in read from %s',
    async (name, expireDate, hasLifetimeAccess, positionSeconds) => {
      const { account, asked } = await wordpress(() => ({ body: recorded(name) }));
      const { body } = await account.ask(QUERY);
      expect(body.errors).toBeUndefined();
      const { enrolledCourses, ...viewer } = body.data.viewer;
      expect(viewer).toEqual({ id: '4', email: 'sam@example.com', name: 'Sam Ortiz' });
      expect(enrolledCourses).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: false } });
      expect(enrolledCourses.nodes).toContainEqual({
        slug: 'baeume-blumen-oneill',
        title: 'Bäume & „Blumen“ – O’Neill',
        url: expect.stringMatching(/^https:\/\/school\.example\/.*\/baeume-blumen-oneill\/$/),
        expireDate,
        hasLifetimeAccess,
        progressPercent: 33.33,
        lastWatchedLecture: { lectureId: expect.stringMatching(/^\d+$/), positionSeconds },
      });
      expect(enrolledCourses.nodes).toContainEqual(
        expect.objectContaining({
          title: 'Seekarten & “Tiden”',
          expireDate: null,
          hasLifetimeAccess: true,
          progressPercent: 0,
          lastWatchedLecture: null,
        }),
      );
      // `email` and `name` share one request. Both requests are for the member of the token.
      expect(asked.map(({ url, member }) => [url.pathname + url.search, member])).toEqual([
        ['/wp-json/coursegate/v1/me', '4'],
        ['/wp-json/coursegate/v1/me/courses?page=1', '4'],
      ]);
    },
  );

  it('returns no courses if the site has no course plugin', async () => {
    const { account } = await wordpress(() => ({ status: 404, body: { code: 'rest_no_route' } }));
    const { body } = await account.ask(QUERY);
    expect(body.errors).toBeUndefined();
    expect(body.data.viewer.enrolledCourses).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false } });
  });
});
