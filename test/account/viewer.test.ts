import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CONTRACT_QUERY,
  callOver,
  EVENTS_MAPPING_FILE,
  MAPPING_FILE,
  startAccount,
  type TestAccount,
} from './support/account.ts';
import { startSchool, type TestSchool } from './support/school.ts';

let school: TestSchool;
let account: TestAccount;

beforeAll(async () => {
  school = await startSchool(130);
  account = await startAccount({ call: callOver(school.origin) });
});
afterAll(async () => {
  await account.close();
  await school.close();
});
beforeEach(() => school.reset());

describe('the query of the contract', () => {
  test('returns exactly this response', async () => {
    const { status, headers, text } = await account.ask(CONTRACT_QUERY, { n: 3 });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text).toBe(
      '{"data":{"viewer":{"id":"m-1001","email":"student@example.com","enrolledCourses":{"nodes":[' +
        '{"slug":"course-0","expireDate":"2027-01-01T00:00:00Z","hasLifetimeAccess":false,' +
        '"lastWatchedLecture":{"lectureId":"4711","positionSeconds":754}},' +
        '{"slug":"course-1","expireDate":null,"hasLifetimeAccess":true,"lastWatchedLecture":null},' +
        '{"slug":"course-2","expireDate":"2027-01-01T00:00:00Z","hasLifetimeAccess":false,' +
        '"lastWatchedLecture":{"lectureId":"4711","positionSeconds":754}}]}}}}',
    );
    expect(account.errors).toEqual([]);
  });

  test('reports a value that is no DateTime, and returns the rest', async () => {
    const text = MAPPING_FILE.text.replace('expires_at->toDateTime("unix")', 'id');
    const mapped = await startAccount({
      call: callOver(school.origin),
      mappings: [{ ...MAPPING_FILE, text }, EVENTS_MAPPING_FILE],
    });
    try {
      const { body } = await mapped.ask('{ viewer { enrolledCourses(first: 1) { nodes { slug expireDate } } } }');
      expect(body.data.viewer.enrolledCourses.nodes).toEqual([{ slug: 'course-0', expireDate: null }]);
      expect(body.errors).toMatchObject([{ path: ['viewer', 'enrolledCourses', 'nodes', 0, 'expireDate'] }]);
    } finally {
      await mapped.close();
    }
  });

  test('calls each upstream once for a page of 50', async () => {
    const { body } = await account.ask(CONTRACT_QUERY, { n: 50 });
    expect(body.data.viewer.enrolledCourses.nodes).toHaveLength(50);
    expect(school.seen.map(({ path }) => path).sort()).toEqual([
      '/api/v1/members/m-1001',
      '/api/v1/members/m-1001/enrolments',
      '/v2/positions',
    ]);
  });

  test('makes two page requests and one batch for 60', async () => {
    await account.ask(CONTRACT_QUERY, { n: 60 });
    expect([school.count('enrolments'), school.count('positions')]).toEqual([2, 1]);
  });

  test('shares calls between aliases, and makes none for fields that are not requested', async () => {
    await account.ask(
      '{ viewer { a: enrolledCourses(first: 5) { nodes { slug } } b: enrolledCourses(first: 9) { nodes { slug } } } }',
    );
    expect(school.seen.map(({ path }) => path)).toEqual(['/api/v1/members/m-1001/enrolments']);
    school.reset();
    await account.ask('{ viewer { id } }');
    expect(school.seen).toEqual([]);
  });
});

interface Window {
  nodes: { slug: string }[];
  edges: { cursor: string; node: { slug: string } }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  totalCount: number | null;
}

const WINDOW = `query ($n: Int, $after: String) { viewer { enrolledCourses(first: $n, after: $after) {
  nodes { slug } edges { cursor node { slug } } totalCount
  pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

async function window(n: number | undefined, after?: string | null): Promise<Window> {
  return (await account.ask(WINDOW, { n, after })).body.data.viewer.enrolledCourses;
}

async function walk(sizes: (turn: number) => number): Promise<string[]> {
  const slugs: string[] = [];
  let after: string | null = null;
  for (let turn = 0; ; turn += 1) {
    const { nodes, pageInfo }: Window = await window(sizes(turn), after);
    slugs.push(...nodes.map(({ slug }) => slug));
    if (!pageInfo.hasNextPage) return slugs;
    after = pageInfo.endCursor;
  }
}

const ALL = Array.from({ length: 130 }, (_, index) => `course-${index}`);

describe('paging through the courses', () => {
  test('in windows of 7 returns each course once', async () => {
    expect(await walk(() => 7)).toEqual(ALL);
  });

  test('can use another window size each time', async () => {
    expect(await walk((turn) => [1, 49, 50, 2, 20, 100][turn % 6] as number)).toEqual(ALL);
  });

  test('returns edges, page info and total that agree with the nodes', async () => {
    const first = await window(2);
    expect(first.edges.map(({ node }) => node)).toEqual(first.nodes);
    expect(first.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: first.edges[0]?.cursor,
      endCursor: first.edges[1]?.cursor,
    });
    expect(first.totalCount).toBe(130);
    const second = await window(2, first.edges[0]?.cursor);
    expect(second.nodes.map(({ slug }) => slug)).toEqual(['course-1', 'course-2']);
    expect(second.pageInfo.hasPreviousPage).toBe(true);
  });

  test('uses 20 by default and for null, and returns an empty window for 0', async () => {
    expect((await window(undefined)).nodes).toHaveLength(20);
    expect((await account.ask(WINDOW, { n: null })).body.data.viewer.enrolledCourses.nodes).toHaveLength(20);
    const none = await window(0);
    expect(none.nodes).toEqual([]);
    expect(none.pageInfo).toEqual({ hasNextPage: true, hasPreviousPage: false, startCursor: null, endCursor: null });
  });

  test('returns nothing for a cursor beyond the end', async () => {
    const cursor = Buffer.from('{"i":5000}').toString('base64url');
    expect(await window(5, cursor)).toMatchObject({ nodes: [], pageInfo: { hasNextPage: false } });
  });

  const raw = (text: string) => Buffer.from(text).toString('base64url');
  test.each([
    ['first below 0', { n: -1 }],
    ['first over 100', { n: 101 }],
    ['an empty cursor', { after: '' }],
    ['invalid base64', { after: '%%%' }],
    ['another JSON', { after: raw('{"i":1.5}') }],
    ['a negative position', { after: raw('{"i":-1}') }],
    ['a position that is too large', { after: raw('{"i":99999999}') }],
    ['a padded spelling of a valid cursor', { after: `${raw('{"i":1}')}==` }],
    ['a prototype', { after: raw('{"__proto__":{"i":1}}') }],
  ])('refuses %s', async (_name, variables) => {
    const { status, body } = await account.ask(WINDOW, variables);
    expect(status).toBe(200);
    expect(body.data.viewer).toEqual({ enrolledCourses: null });
    expect(body.errors).toMatchObject([
      { path: ['viewer', 'enrolledCourses'], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(school.seen).toEqual([]);
  });

  test('knows that the list ends with the page without another request', async () => {
    const few = await startSchool(50);
    const other = await startAccount({ call: callOver(few.origin) });
    const { body } = await other.ask(WINDOW, { n: 50 });
    expect(body.data.viewer.enrolledCourses.pageInfo.hasNextPage).toBe(false);
    expect(few.count('enrolments')).toBe(1);
    await other.close();
    await few.close();
  });
});

describe('the member of a query', () => {
  test('cannot be changed by variables or arguments', async () => {
    await account.ask('query ($sub: String) { viewer { id email } }', { sub: 'm-2' });
    await account.ask(CONTRACT_QUERY, { n: 1, sub: 'm-2', __proto__: { sub: 'm-2' }, context: { sub: 'm-2' } });
    for (const query of ['{ viewer(id: "m-2") { id } }', '{ viewer { enrolledCourses(sub: "m-2") { totalCount } } }']) {
      expect((await account.ask(query)).body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
    expect(school.seen.filter(({ url }) => url.href.includes('m-2'))).toEqual([]);
    expect(school.seen.every(({ headers }) => headers['x-member-id'] === 'm-1001')).toBe(true);
  });

  test('is not changed by an upstream that responds about another member', async () => {
    const { body } = await account.ask('{ viewer { email id enrolledCourses(first: 1) { nodes { slug } } } }');
    expect(body.data.viewer.id).toBe('m-1001');
    expect(school.count('m-9999')).toBe(0);
  });

  test('is never put into a path that its ID would break', async () => {
    for (const sub of ['..', '../admin', 'a/b', '', 'a\\b', 'a\nb']) {
      const odd = await startAccount(
        { call: callOver(school.origin) },
        { ...(await import('./support/account.ts')).MEMBER, sub },
      );
      const { body } = await odd.ask('{ viewer { id email } }');
      expect(body.data.viewer).toEqual({ id: sub, email: null });
      expect(body.errors[0]).toMatchObject({
        message: 'Unexpected error.',
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      });
      await odd.close();
    }
    expect(school.seen).toEqual([]);
  });
});
