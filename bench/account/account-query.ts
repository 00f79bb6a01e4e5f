import type { JsonRequest } from '../support/client.ts';

const QUERY = `query ($n: Int) { viewer { id email enrolledCourses(first: $n) { nodes {
  slug expireDate hasLifetimeAccess lastWatchedLecture { lectureId positionSeconds } } } } }`;

/** The contract query for a page of `nodes` enrolments. */
export function accountQuery(nodes: number): JsonRequest {
  return {
    path: '/account/graphql',
    body: JSON.stringify({ query: QUERY, variables: { n: nodes } }),
    failed: '"errors"',
  };
}
