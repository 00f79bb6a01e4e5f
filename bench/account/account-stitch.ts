import { createServer } from 'node:http';
import { stitchSchemas } from '@graphql-tools/stitch';
import { createSchema, createYoga } from 'graphql-yoga';
import { readCourses, readEmail, readPositions } from '../upstream/servers/school-client.ts';

/** Two schemas over the two services, with type merging as in the stitching handbook, served by graphql-yoga. */
interface Context {
  readonly memberId: string;
}

const courses = createSchema<Context>({
  typeDefs: `
    scalar DateTime
    type Query { viewer: Viewer! }
    type Viewer {
      id: ID!
      email: String
      enrolledCourses(first: Int = 20, after: String): EnrolledCourseConnection
    }
    type EnrolledCourseConnection { nodes: [EnrolledCourse!]! }
    type EnrolledCourse { slug: String! expireDate: DateTime hasLifetimeAccess: Boolean! }
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
  },
});

const progress = createSchema<Context>({
  typeDefs: `
    type Query { progressOf(slugs: [String!]!): [EnrolledCourse]! }
    type EnrolledCourse { slug: String! lastWatchedLecture: LastWatchedLecture }
    type LastWatchedLecture { lectureId: ID! positionSeconds: Int! }
  `,
  resolvers: {
    Query: {
      progressOf: async (_source, { slugs }: { slugs: readonly string[] }, { memberId }) => {
        const found = new Map((await readPositions(memberId, slugs)).map((position) => [position.slug, position]));
        return slugs.map((slug) => found.get(slug) ?? { slug, lastWatchedLecture: null });
      },
    },
  },
});

const schema = stitchSchemas<Context>({
  subschemas: [
    { schema: courses },
    {
      schema: progress,
      merge: {
        EnrolledCourse: {
          selectionSet: '{ slug }',
          fieldName: 'progressOf',
          key: ({ slug }: { slug: string }) => slug,
          argsFromKeys: (slugs) => ({ slugs }),
        },
      },
    },
  ],
});

const yoga = createYoga<Record<string, never>, Context>({
  schema,
  context: () => ({ memberId: 'm-1001' }),
  graphqlEndpoint: '/account/graphql',
  graphiql: false,
  landingPage: false,
  logging: false,
});
createServer(yoga).listen(Number(process.env.PORT), '127.0.0.1');
