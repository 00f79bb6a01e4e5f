import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { presetAccount } from './recorded/preset-account.ts';

const recorded = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`./recorded/learnhouse/${name}.json`, import.meta.url), 'utf8'));

const ENVIRONMENT = { LEARNHOUSE_TOKEN: 'lh_token', LEARNHOUSE_DATABASE: 'postgres://127.0.0.1/learnhouse' };
const QUERY = `{ viewer { id email name enrolledCourses(first: 10) { totalCount nodes {
  slug title expireDate hasLifetimeAccess progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`;

const ask = async (trail: { readonly status?: number; readonly body: unknown }) => {
  const { account, close } = await presetAccount(
    'learnhouse',
    ({ url }) => (url.pathname === '/api/v1/trail/' ? trail : { body: recorded('profile') }),
    { member: '2', environment: ENVIRONMENT },
  );
  try {
    return (await account.ask(QUERY)).body;
  } finally {
    await close();
  }
};

/** What LearnHouse 1.2.7 responded in the time zone Asia/Kolkata, with identifiers replaced. */
describe('the mapping for LearnHouse', () => {
  it('returns the member’s courses with progress and the activity completed last', async () => {
    const forever = { expireDate: null, hasLifetimeAccess: true };
    expect(await ask({ body: recorded('trail') })).toEqual({
      data: {
        viewer: {
          id: '2',
          email: 'sam@example.com',
          name: 'Sam O’Neill',
          enrolledCourses: {
            totalCount: 2,
            nodes: [
              {
                ...forever,
                slug: '00000000-0000-4000-8000-000000000001',
                title: 'Bäume & „Blumen“ – O’Neill',
                progressPercent: expect.closeTo(66.67, 1),
                // Not the activity with the highest number, nor the first one: the one completed last.
                lastWatchedLecture: { lectureId: '1', positionSeconds: 0 },
              },
              {
                ...forever,
                slug: '00000000-0000-4000-8000-000000000002',
                title: 'Knots &amp; ropes',
                progressPercent: null,
                lastWatchedLecture: null,
              },
            ],
          },
        },
      },
    });
  });

  it('returns no courses for a member who has not started any', async () => {
    const { data, errors } = await ask({ status: 404, body: { detail: 'Trail not found' } });
    expect(errors).toBeUndefined();
    expect(data.viewer).toMatchObject({ email: 'sam@example.com', enrolledCourses: { totalCount: 0, nodes: [] } });
  });
});
