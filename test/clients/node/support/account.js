/** What the GraphQL clients ask the Account API. */
import { MEMBER } from './app.js';
import { expiry, same, step } from './report.js';
import { signIn } from './sign-in.js';

export const QUERY = /* GraphQL */ `
  query MyCourses($first: Int!) {
    viewer {
      id
      enrolledCourses(first: $first) {
        nodes {
          slug
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
`;

/** @param connect takes a function for an access token, and returns one that asks `QUERY` with variables */
export async function useAccount(name, connect) {
  const ask = await connect(await signIn(name));
  const read = async () => {
    const { viewer } = await ask({ first: 1 });
    same(viewer.id, MEMBER, 'viewer.id');
    same(viewer.enrolledCourses.nodes.length, 1, 'courses on the first page');
  };
  await read();
  step('account');
  await expiry();
  await read();
  step('expired-and-refreshed');
}
