import { describe, expect, it } from 'vitest';
import { presetAccount } from './recorded/preset-account.ts';

/** In the form that the source of Frappe Learning 2.45.2 gives them: never recorded from a running one. */
const USER = { data: { name: 'sam@example.com', email: 'sam@example.com', full_name: 'Sam Student', enabled: 1 } };
const ENROLMENTS = [
  { course: 'baeume', title: 'Bäume & „Blumen“ – O’Neill', progress: 66.667, current_lesson: 'l1a2b3' },
  { course: 'knots', title: 'Knots', progress: 0, current_lesson: null },
];

/** Frappe Learning itself is not run: see integrations/frappe/README.md. */
describe('the mapping for Frappe Learning', () => {
  it('returns the member’s enrolments, by the ID in the token', async () => {
    const { account, asked, close } = await presetAccount(
      'frappe',
      ({ url }) => ({ body: url.pathname.startsWith('/api/resource/User/') ? USER : { data: ENROLMENTS } }),
      { member: 'sam@example.com', environment: { FRAPPE_KEY: '0123456789abcde:0123456789abcde' } },
    );
    try {
      const { body } = await account.ask(`{ viewer { id email name enrolledCourses(first: 10) { nodes {
        slug title expireDate hasLifetimeAccess progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`);
      expect(body.errors).toBeUndefined();
      expect(body.data).toEqual({
        viewer: {
          id: 'sam@example.com',
          email: 'sam@example.com',
          name: 'Sam Student',
          enrolledCourses: {
            nodes: [
              {
                slug: 'baeume',
                title: 'Bäume & „Blumen“ – O’Neill',
                expireDate: null,
                hasLifetimeAccess: true,
                progressPercent: 66.667,
                lastWatchedLecture: { lectureId: 'l1a2b3', positionSeconds: 0 },
              },
              {
                slug: 'knots',
                title: 'Knots',
                expireDate: null,
                hasLifetimeAccess: true,
                progressPercent: 0,
                lastWatchedLecture: null,
              },
            ],
          },
        },
      });
      const enrolments = asked.find(({ url }) => url.pathname === '/api/resource/LMS%20Enrollment');
      expect(enrolments?.url.searchParams.get('filters')).toBe('[["member","=","sam@example.com"]]');
    } finally {
      await close();
    }
  });
});
