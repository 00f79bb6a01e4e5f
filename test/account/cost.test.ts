import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callOver, contractFiles, LIMITS, startAccount } from './support/account.ts';
import { startSchool, type TestSchool } from './support/school.ts';

let school: TestSchool;
beforeAll(async () => {
  school = await startSchool(30);
});
afterAll(() => school.close());

/** Sends a query with a cost limit that nothing meets, so that the error names the cost. */
async function costOf(query: string, variables?: object): Promise<number> {
  const account = await startAccount({ call: callOver(school.origin), limits: { ...LIMITS, cost: 0 } });
  try {
    const { body } = await account.ask(query, variables);
    expect(body.errors[0].extensions).toMatchObject({ code: 'MAX_COST_EXCEEDED', limit: 0 });
    return body.errors[0].extensions.cost;
  } finally {
    await account.close();
  }
}

const courses = (args: string, inner: string) => `{ viewer { enrolledCourses${args} { ${inner} } } }`;

const BY_VARIABLE = `query ($n: Int) ${courses('(first: $n)', 'nodes { slug }')}`;

describe('the cost of an operation', () => {
  // The member, the connection and its nodes.
  test.each<[name: string, cost: number, query: string, variables?: object]>([
    ['leaves are free', 1, '{ viewer { id email } }'],
    ['a window counts itself', 2, courses('(first: 5)', 'totalCount')],
    ['as many nodes as requested', 2 + 5, courses('(first: 5)', 'nodes { slug }')],
    ['the default of the contract', 2 + 20, courses('', 'nodes { slug }')],
    ['an object in each', 2 + 5 * 2, courses('(first: 5)', 'nodes { lastWatchedLecture { lectureId } }')],
    ['edges and their nodes', 2 + 5 * 2, courses('(first: 5)', 'edges { node { slug } }')],
    ['pageInfo once', 2 + 1, courses('(first: 5)', 'pageInfo { hasNextPage }')],
    ['a variable', 2 + 7, BY_VARIABLE, { n: 7 }],
    ['an omitted variable', 2 + 20, BY_VARIABLE],
    ["a variable's default", 2 + 9, `query ($n: Int = 9) ${courses('(first: $n)', 'nodes { slug }')}`],
    ['more than the maximum counts as the maximum', 2 + 100, courses('(first: 100000)', 'nodes { slug }')],
    ['a negative number counts as zero', 2, courses('(first: -5)', 'nodes { slug }')],
    [
      'each alias',
      1 + 2 * (1 + 5),
      `{ viewer { ${['a', 'b'].map((n) => `${n}: enrolledCourses(first: 5) { nodes { slug } }`).join(' ')} } }`,
    ],
    [
      'a fragment wherever it is spread',
      1 + 2 * (1 + 5),
      '{ viewer { a: enrolledCourses(first: 5) { ...F } b: enrolledCourses(first: 5) { ...F } } } fragment F on EnrolledCourseConnection { nodes { slug } }',
    ],
    [
      'a fragment by the window it is in',
      1 + (1 + 5) + (1 + 8),
      '{ viewer { a: enrolledCourses(first: 5) { ...F } b: enrolledCourses(first: 8) { ...F } } } fragment F on EnrolledCourseConnection { ... on EnrolledCourseConnection { nodes { slug } } }',
    ],
  ])('counts: %s', async (_name, cost, query, variables) => {
    expect(await costOf(query, variables)).toBe(cost);
  });
});

test('the contract can set the weight of a field and the assumed size of a list', async () => {
  const contract = `
    directive @cost(weight: Int!) on FIELD_DEFINITION
    type Query { viewer: Viewer! }
    type Viewer { id: ID!  report: Report }
    type Report { total: Int @cost(weight: 50)  lines: [Line!] @listSize(assumedSize: 3)  notes: [Line!] }
    type Line { text: String }`;
  const mapping = `extend schema @source(name: "school")
    extend type Viewer { report: Report @connect(source: "school", http: { GET: "/x" },
      selection: "total: $(1)  lines: a { text }  notes: b { text }") }`;
  const account = await startAccount({
    call: callOver(school.origin),
    schema: contractFiles(contract),
    mappings: [{ file: 'report.graphql', text: mapping }],
    limits: { ...LIMITS, cost: 0 },
  });
  const of = async (query: string) => (await account.ask(query)).body.errors[0].extensions.cost;
  expect(await of('{ viewer { report { total } } }')).toBe(2 + 50);
  expect(await of('{ viewer { report { lines { text } } } }')).toBe(2 + 3);
  expect(await of('{ viewer { report { notes { text } } } }')).toBe(2 + 10);
  await account.close();
});

test('an operation that costs too much is refused before any upstream call, at its most expensive field, with both numbers', async () => {
  const account = await startAccount({ call: callOver(school.origin), limits: { ...LIMITS, cost: 100 } });
  school.reset();
  const { status, body } = await account.send(
    JSON.stringify({
      query:
        '{ viewer { a: enrolledCourses(first: 2) { nodes { slug } } b: enrolledCourses(first: 100) { nodes { slug } } } }',
    }),
    { accept: 'application/graphql-response+json' },
  );
  await account.close();
  expect(status).toBe(400);
  expect(body).toEqual({
    errors: [
      {
        message: 'The operation costs 105, but the limit is 100. Request fewer items at once.',
        locations: [{ line: 1, column: 60 }],
        extensions: { code: 'MAX_COST_EXCEEDED', cost: 105, limit: 100 },
      },
    ],
  });
  expect(school.seen).toEqual([]);
});

test('the configured page size is the maximum of first', async () => {
  const account = await startAccount({ call: callOver(school.origin), limits: { ...LIMITS, pageSize: 10 } });
  const { body } = await account.ask(courses('(first: 11)', 'nodes { slug }'));
  const { body: fits } = await account.ask(courses('(first: 10)', 'nodes { slug }'));
  const { body: unsaid } = await account.ask(courses('(first: null)', 'nodes { slug }'));
  await account.close();
  expect(body.errors[0]).toMatchObject({
    message: 'The argument first must be from 0 to 10.',
    extensions: { code: 'BAD_USER_INPUT' },
  });
  expect([fits, unsaid].map((each) => each.data.viewer.enrolledCourses.nodes.length)).toEqual([10, 10]);
});

test('calls beyond the limit are not made, and the results of the others are returned', async () => {
  const account = await startAccount({ call: callOver(school.origin), limits: { ...LIMITS, upstreamCalls: 2 } });
  school.reset();
  const { body } = await account.ask(
    '{ viewer { email enrolledCourses(first: 1) { nodes { slug lastWatchedLecture { lectureId } } } } }',
  );
  await account.close();
  expect(school.seen.length).toBe(2);
  expect(body.data.viewer.email).toBe('student@example.com');
  expect(body.data.viewer.enrolledCourses.nodes[0]).toEqual({ slug: 'course-0', lastWatchedLecture: null });
  expect(body.errors.map((error: { extensions: object }) => error.extensions)).toEqual([
    { code: 'REQUEST_LIMIT_EXCEEDED' },
  ]);
});
