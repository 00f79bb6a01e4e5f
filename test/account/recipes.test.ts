import { afterEach, describe, expect, test } from 'vitest';
import { LIMITS } from './support/account.ts';
import { RECIPES } from './support/recipes.ts';
import { type MappedService, mapService } from './support/service.ts';

let service: MappedService | undefined;
afterEach(() => service?.close());

const start: typeof mapService = async (...args) => {
  service = await mapService(...args);
  return service;
};

test.each(RECIPES)(
  'the recipe of the reference works: $about',
  async ({ contract, mapping, answers, query, gives }) => {
    const { ask, seen } = await start(contract, mapping, ({ url }) => {
      const json = answers[url.pathname + url.search];
      return json === undefined ? { status: 404, text: 'no such thing' } : { json };
    });
    expect((await ask(query)).body).toEqual({ data: gives });
    expect(seen.map(({ url }) => url.pathname + url.search).sort()).toEqual(Object.keys(answers).sort());
  },
);

const PAGE_INFO = 'type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! endCursor: String }';

describe('a filter', () => {
  const types = `type Viewer { id: ID!  items(first: Int = 20, after: String): Items }
    type Items { nodes: [Item!]! edges: [Edge!]! pageInfo: PageInfo! totalCount: Int }
    type Edge { cursor: String! node: Item! }
    type Item { n: Int }
    ${PAGE_INFO}`;
  const query = `query ($first: Int, $after: String) { viewer { items(first: $first, after: $after) {
    nodes { n } edges { cursor } pageInfo { hasNextPage endCursor } totalCount } } }`;
  const mapping = (http: string, connection: string) => `extend type Viewer { items: Items
    @connect(source: "school", http: ${http}, selection: "n") @connection(filter: "@.own", ${connection}) }`;
  /** Of 36 items, the member's own are 7 to 14 and 29: nothing on the first page of 5 or at the end. */
  const items = Array.from({ length: 36 }, (_, n) => ({ n, own: (n > 6 && n < 15) || n === 29 }));
  const own = [7, 8, 9, 10, 11, 12, 13, 14, 29];
  const STYLES: Record<string, [http: string, connection: string, page: (url: URL) => unknown]> = {
    'PAGE with a total': [
      '{ GET: "/items", queryParams: "page: $page.number" }',
      'style: PAGE, pageSize: 10, nodes: "$.items", total: "$.total"',
      (url) => {
        const from = (Number(url.searchParams.get('page')) - 1) * 10;
        return { items: items.slice(from, from + 10), total: 36 };
      },
    ],
    'OFFSET without a total': [
      '{ GET: "/items", queryParams: "from: $page.offset" }',
      'style: OFFSET, pageSize: 10, nodes: "$"',
      (url) => items.slice(Number(url.searchParams.get('from')), Number(url.searchParams.get('from')) + 10),
    ],
    CURSOR: [
      '{ GET: "/items", queryParams: "after: $page.cursor" }',
      'style: CURSOR, pageSize: 10, nodes: "$.items", next: "$.next"',
      (url) => {
        const from = Number(url.searchParams.get('after') ?? 0);
        return { items: items.slice(from, from + 5), next: from + 5 < 36 ? from + 5 : null };
      },
    ],
    ALL: ['{ GET: "/items" }', 'style: ALL, nodes: "$"', () => items],
  };

  describe.each(Object.entries(STYLES))('with %s', (_style, [http, connection, page]) => {
    test.each([1, 8, 50])('leaves items out in windows of %i, without duplicates or gaps', async (first) => {
      const { ask } = await start(types, mapping(http, connection), ({ url }) => ({ json: page(url) }));
      const seen: number[] = [];
      for (let after: string | null = null; seen.length < own.length; ) {
        const { body } = await ask(query, { first, after });
        const { nodes, edges, pageInfo, totalCount } = body.data.viewer.items;
        seen.push(...nodes.map(({ n }: { n: number }) => n));
        expect(totalCount).toBe(own.length);
        expect(edges.at(-1).cursor).toBe(pageInfo.endCursor);
        expect(pageInfo.hasNextPage).toBe(seen.length < own.length);
        after = pageInfo.endCursor;
      }
      expect(seen).toEqual(own);
    });

    test('that leaves out everything gives an empty list', async () => {
      const none = mapping(http, connection).replace('@.own', "@.n->eq('none')");
      const { ask } = await start(types, none, ({ url }) => ({ json: page(url) }));
      const { body } = await ask(query, { first: 5 });
      expect(body.data.viewer.items).toEqual({
        nodes: [],
        edges: [],
        pageInfo: { hasNextPage: false, endCursor: null },
        totalCount: 0,
      });
    });
  });

  test('reads no more pages than needed unless totalCount is requested, and never more than the limit', async () => {
    const [http = '', connection = '', page] = STYLES['PAGE with a total'] ?? [];
    const { ask, seen } = await start(types, mapping(http, connection), ({ url }) => ({ json: page?.(url) }), {
      limits: { ...LIMITS, upstreamCalls: 3 },
    });
    await ask('{ viewer { items(first: 2) { nodes { n } pageInfo { hasNextPage } } } }');
    expect(seen.map(({ url }) => url.search)).toEqual(['?page=1']);
    const { body } = await ask('{ viewer { items(first: 2) { nodes { n } totalCount } } }');
    expect(body.data.viewer.items).toEqual({ nodes: [{ n: 7 }, { n: 8 }], totalCount: null });
    expect(body.errors).toMatchObject([
      { path: ['viewer', 'items', 'totalCount'], extensions: { code: 'REQUEST_LIMIT_EXCEEDED' } },
    ]);
    expect(seen.length).toBe(1 + 3);
  });
});

test('an expression that goes through a list for each item of another fails in time, one that does not passes', async () => {
  const types = 'type Viewer { id: ID!  pairs: [Int]  all: Int }';
  const mapping = `extend type Viewer {
    pairs: [Int] @connect(source: "school", http: { GET: "/rows" }, selection: "$.rows->map($.rows->filter(@.n->lt(0))->size)")
    all: Int @connect(source: "school", http: { GET: "/rows" }, selection: "$.rows->filter(@.n->gte(0))->sortBy(@.n)->size") }`;
  const rows = Array.from({ length: 30_000 }, (_, n) => ({ n }));
  const { ask, logged } = await start(types, mapping, () => ({ json: { rows } }));
  const { body } = await ask('{ viewer { pairs all } }');
  expect(body.data.viewer).toEqual({ pairs: null, all: 30_000 });
  expect(logged()).toEqual([
    'Viewer.pairs (map.graphql:3, rows in GET /rows of school): the mapping goes through more than 1000000 items',
  ]);
});

describe('required fields of a batch', () => {
  const types = `type Viewer { id: ID!  courses(first: Int = 20, after: String): Courses }
    type Courses { nodes: [Course!]! pageInfo: PageInfo! }
    type Course { slug: String!  title: String }
    ${PAGE_INFO}`;
  const mapping = (batch: string, selection = 'slug title') => `extend type Viewer {
      courses: Courses @connect(source: "school", http: { GET: "/enrolments" }, selection: "_id: id")
        @connection(style: ALL, nodes: "$") }
    extend type Course @connect(source: "school", batch: { ${batch} },
      http: { GET: "/courses/{$batch._id->first}" }, selection: "${selection}")`;
  const query = '{ viewer { courses(first: 2) { nodes { slug title } pageInfo { hasNextPage } } } }';
  const answer =
    (broken: string) =>
    ({ url }: { url: URL }) =>
      url.pathname === '/enrolments'
        ? { json: [{ id: 1 }, { id: 2 }, { id: 3 }] }
        : url.pathname.endsWith(broken)
          ? { status: 500, text: '' }
          : { json: { slug: `c${url.pathname.slice(-1)}`, title: null } };

  test('make the connection fail when their call fails', async () => {
    const { ask } = await start(types, mapping('maxSize: 1, required: true'), answer('2'));
    expect((await ask(query)).body).toMatchObject({
      data: { viewer: { courses: null } },
      errors: [{ path: ['viewer', 'courses'], extensions: { code: 'UPSTREAM_ERROR' } }],
    });
  });

  test('are requested for the window only, once for each object', async () => {
    const { ask, seen } = await start(types, mapping('maxSize: 1, required: true'), answer('none'));
    const { body } = await ask(query);
    expect(body.data.viewer.courses).toEqual({
      nodes: [
        { slug: 'c1', title: null },
        { slug: 'c2', title: null },
      ],
      pageInfo: { hasNextPage: true },
    });
    expect(seen.map(({ url }) => url.pathname)).toEqual(['/enrolments', '/courses/1', '/courses/2']);
  });

  test('are bounded by the limit of calls', async () => {
    const limits = { ...LIMITS, upstreamCalls: 2 };
    const { ask, seen } = await start(types, mapping('maxSize: 1, required: true'), answer('none'), { limits });
    expect((await ask(query)).body.errors).toMatchObject([{ extensions: { code: 'REQUEST_LIMIT_EXCEEDED' } }]);
    expect(seen.length).toBeLessThanOrEqual(2);
  });

  test.each([
    ['a non-null field of a batch that is not required', mapping('maxSize: 1'), 'Course.slug: comes from a separate'],
    ['a batch of several without its key', mapping('maxSize: 2, required: true'), 'does not return the key _id'],
    [
      'a selection without a name that another @connect needs',
      mapping('maxSize: 1, required: true').replace('selection: "_id: id"', 'selection: "_no: id"'),
      'the selection does not return _id, which the @connect on the type needs',
    ],
  ])('report a mistake: %s', async (_name, text, said) => {
    await expect(start(types, text, answer('none'))).rejects.toThrow(said);
  });
});

test('a key that a mapping cannot read fails the batched fields of its own object only', async () => {
  const types = 'type Viewer { id: ID!  courses: [Course!] }  type Course { slug: String  title: String }';
  const mapping = `extend type Viewer {
      courses: [Course!] @connect(source: "school", http: { GET: "/c" }, selection: "$ { slug  _id: id->parseInt }") }
    extend type Course @connect(source: "school", batch: {}, http: { GET: "/titles", queryParams: "id: $batch._id" },
      selection: "$ { _id: id  title }")`;
  const { ask } = await start(types, mapping, ({ url }) => ({
    json: url.pathname === '/c' ? [{ id: 'x' }, { id: '2' }] : [{ id: 2, title: 'Two' }],
  }));
  const { body } = await ask('{ viewer { courses { title } } }');
  expect(body.data.viewer.courses).toEqual([{ title: null }, { title: 'Two' }]);
  expect(body.errors).toMatchObject([{ path: ['viewer', 'courses', 0, 'title'] }]);
});

describe('each', () => {
  const types = 'type Viewer { id: ID!  marks: [Int]  best: Int  _hidden: String }';
  const mapping = (each: string, selection: string) => `extend type Viewer {
    best: Int @connect(source: "school", each: "${each}", http: { GET: "/marks/{$each}" }, selection: "${selection}")
    marks: [Int] @connect(source: "school", http: { GET: "/all" }, selection: "$")
    _hidden: String @connect(source: "school", http: { GET: "/all" }, selection: "$") }`;
  const best = '$->maxBy(@.mark).mark';

  test('calls once for each different item, and not for null', async () => {
    const { ask, seen } = await start(types, mapping('$([1, 2, 2, null])', best), ({ url }) => ({
      json: { mark: Number(url.pathname.slice(-1)) },
    }));
    expect((await ask('{ viewer { best } }')).body).toEqual({ data: { viewer: { best: 2 } } });
    expect(seen.map(({ url }) => url.pathname)).toEqual(['/marks/1', '/marks/2']);
  });

  test('fails when one of the calls fails', async () => {
    const { ask } = await start(types, mapping('$([1, 2])', best), ({ url }) =>
      url.pathname === '/marks/1' ? { json: { mark: 1 } } : { status: 500, text: '' },
    );
    const { body } = await ask('{ viewer { best } }');
    expect(body).toMatchObject({
      data: { viewer: { best: null } },
      errors: [{ extensions: { code: 'UPSTREAM_ERROR' } }],
    });
  });

  test('makes no call when the list is too long, and fails when it is no list', async () => {
    const limits = { ...LIMITS, upstreamCalls: 2 };
    const long = await start(types, mapping('$([1, 2, 3])', best), () => ({ json: {} }), { limits });
    expect((await long.ask('{ viewer { best } }')).body.errors[0].extensions.code).toBe('REQUEST_LIMIT_EXCEEDED');
    await long.ask('{ viewer { marks } }');
    expect(long.seen.map(({ url }) => url.pathname)).toEqual(['/all']);
    await long.close();
    const { ask } = await start(types, mapping('$context.name', best), () => ({ json: {} }));
    expect((await ask('{ viewer { best } }')).body.errors[0].extensions.code).toBe('UPSTREAM_BAD_RESPONSE');
  });

  test('needs the names of the mapping that it uses in every selection of the type', async () => {
    const nested = (selection: string) => `extend type Viewer {
        courses: [Course!] @connect(source: "school", http: { GET: "/c" }, selection: "$ { ${selection} }") }
      extend type Course { best: Int @connect(source: "school", each: "$this._ids", http: { GET: "/m/{$each}" }, selection: "$->first") }`;
    const course = 'type Viewer { id: ID!  courses: [Course!] }  type Course { slug: String  best: Int }';
    const quietly = () => ({ json: {} });
    await expect(start(course, nested('slug _id: ids'), quietly)).rejects.toThrow(
      'Course: the selection does not return _ids, which the @connect on Course.best needs',
    );
    await start(course, nested('slug _ids: ids'), quietly);
  });

  test.each([
    ['$each without it', mapping('$([1])', best).replace('each: "$([1])", ', ''), '$each is not available here'],
    ['data in it', mapping('$.marks', best), 'there is no data to read here'],
    ['names in it', mapping('a: $(1)', best), 'each is an expression'],
    ['a field from another call', mapping('$this.marks', best), '$this.marks comes from its own @connect'],
    ['$each in the selection', mapping('$([1])', '$each'), '$each is not available here'],
  ])('reports a mistake: %s', async (_name, text, said) => {
    await expect(start(types, text, () => ({ json: {} }))).rejects.toThrow(said);
  });
});
