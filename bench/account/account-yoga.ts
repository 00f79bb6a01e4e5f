import { createServer } from 'node:http';
import { createSchema, createYoga, type YogaInitialContext } from 'graphql-yoga';
import {
  type Course,
  type Position,
  readCourses,
  readEmail,
  readPositions,
} from '../upstream/servers/school-client.ts';

/** graphql-yoga set up for production as documented, with hand-written resolvers and a batch for positions. */
interface Context {
  readonly memberId: string;
  positionOf(slug: string): Promise<Position | undefined>;
}

function gather(memberId: string): Context['positionOf'] {
  let waiting: { slugs: string[]; found: Promise<ReadonlyMap<string, Position>> } | undefined;
  return async (slug) => {
    if (waiting === undefined) {
      const slugs: string[] = [];
      const found = new Promise((resolve) => setImmediate(resolve)).then(async () => {
        waiting = undefined;
        const positions = await readPositions(memberId, slugs);
        return new Map(positions.map((position) => [position.slug, position]));
      });
      waiting = { slugs, found };
    }
    waiting.slugs.push(slug);
    return (await waiting.found).get(slug);
  };
}

const yoga = createYoga<object, Context>({
  schema: createSchema<Context & YogaInitialContext>({
    typeDefs: `
      scalar DateTime
      type Query { viewer: Viewer! }
      type Viewer {
        id: ID!
        email: String
        enrolledCourses(first: Int = 20, after: String): EnrolledCourseConnection
      }
      type EnrolledCourseConnection { nodes: [EnrolledCourse!]! }
      type EnrolledCourse {
        slug: String!
        expireDate: DateTime
        hasLifetimeAccess: Boolean!
        lastWatchedLecture: LastWatchedLecture
      }
      type LastWatchedLecture { lectureId: ID! positionSeconds: Int! }
    `,
    resolvers: {
      Query: { viewer: (_source, _args, { memberId }) => ({ id: memberId }) },
      Viewer: {
        email: (_viewer, _args, { memberId }) => readEmail(memberId),
        enrolledCourses: async (_viewer, { first, after }: { first: number; after?: string }, { memberId }) => {
          const offset = after === undefined ? 0 : Number(Buffer.from(after, 'base64url').toString()) + 1;
          return { nodes: await readCourses(memberId, first, offset) };
        },
      },
      EnrolledCourse: {
        lastWatchedLecture: async ({ slug }: Course, _args, { positionOf }) =>
          (await positionOf(slug))?.lastWatchedLecture ?? null,
      },
    },
  }),
  context: () => ({ memberId: 'm-1001', positionOf: gather('m-1001') }),
  graphqlEndpoint: '/account/graphql',
  graphiql: false,
  landingPage: false,
  logging: false,
});
createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
