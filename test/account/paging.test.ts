import { afterEach, describe, expect, test } from 'vitest';
import { LIMITS } from './support/account.ts';
import { type MappedService, mapService, type Seen } from './support/service.ts';

let service: MappedService | undefined;
afterEach(() => service?.close());

const TYPES = `
  type Viewer { id: ID!  items(first: Int = 20, after: String): Items }
  type Items { nodes: [Item!]! edges: [Edge!]! pageInfo: PageInfo! totalCount: Int }
  type Edge { cursor: String! node: Item! }
  type Item { n: Int }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }`;

const QUERY = `query ($first: Int, $after: String) { viewer { items(first: $first, after: $after) {
  nodes { n } edges { cursor node { n } } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;

const mapping = (http: string, connection: string) =>
  `extend type Viewer { items: Items @connect(source: "school", http: ${http}, selection: "n") @connection(${connection}) }`;

const numbers = (from: number, to: number) =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => ({ n: from + index }));

const STYLES: Record<string, { mapping: string; answer: (count: number) => (seen: Seen) => { json: unknown } }> = {
  OFFSET: {
    mapping: mapping(
      '{ GET: "/items", queryParams: "from: $page.offset  count: $page.size" }',
      'style: OFFSET, pageSize: 10, nodes: "$.items", total: "$.total"',
    ),
    answer:
      (count) =>
      ({ url }) => {
        const from = Number(url.searchParams.get('from'));
        return {
          json: { items: numbers(from, Math.min(count, from + Number(url.searchParams.get('count')))), total: count },
        };
      },
  },
  'OFFSET in a body, without a total': {
    mapping: mapping(
      '{ POST: "/items", body: "from: $page.offset  size: $page.size" }',
      'style: OFFSET, pageSize: 10, nodes: "$.items"',
    ),
    answer:
      (count) =>
      ({ body }) => {
        const { from, size } = JSON.parse(body);
        return { json: { items: numbers(from, Math.min(count, from + size)) } };
      },
  },
  CURSOR: {
    mapping: mapping(
      '{ GET: "/items", queryParams: "cursor: $page.cursor  limit: $page.size" }',
      'style: CURSOR, pageSize: 10, nodes: "$.items", next: "$.next"',
    ),
    // Pages of varying length, as from a service that filters after paging; the third is empty.
    answer:
      (count) =>
      ({ url }) => {
        const cursor = url.searchParams.get('cursor') ?? '0';
        const from = Number(cursor.replace('again-', ''));
        const length = cursor.startsWith('again') ? 4 : ([7, 10, 0, 3][from % 4] ?? 0);
        const to = Math.min(count, from + length);
        return {
          json: { items: numbers(from, to), next: to === count ? null : length === 0 ? `again-${to}` : `${to}` },
        };
      },
  },
  ALL: {
    mapping: mapping('{ GET: "/items" }', 'style: ALL, nodes: "$"'),
    answer: (count) => () => ({ json: numbers(0, count) }),
  },
};

describe.each(Object.entries(STYLES))('paging with %s', (style, { mapping: text, answer }) => {
  const cursor = style === 'CURSOR';
  const start = async (count: number) => {
    service = await mapService(TYPES, text, answer(count), { limits: { ...LIMITS, upstreamCalls: 100 } });
    return async (first: number, after: string | null = null) => {
      const { body } = await (service as MappedService).ask(QUERY, { first, after });
      expect(body.errors).toBeUndefined();
      return body.data.viewer.items;
    };
  };

  test.each([1, 3, 7, 10, 11, 100])('returns all items in windows of %i, without duplicates or gaps', async (first) => {
    const ask = await start(cursor ? 17 : 45);
    const wanted = cursor ? 17 : 45;
    const seen: number[] = [];
    let after: string | null = null;
    for (let rounds = 0; rounds <= wanted; rounds += 1) {
      const { edges, nodes, pageInfo } = await ask(first, after);
      expect(nodes).toEqual(edges.map(({ node }: { node: object }) => node));
      expect(pageInfo.hasPreviousPage).toBe(after !== null);
      seen.push(...nodes.map(({ n }: { n: number }) => n));
      after = pageInfo.endCursor ?? after;
      if (!pageInfo.hasNextPage) break;
      expect(nodes.length).toBe(first);
    }
    expect(seen).toEqual(numbers(0, wanted).map(({ n }) => n));
  });

  test('allows another window size for each request', async () => {
    const ask = await start(16);
    const one = await ask(3);
    const two = await ask(8, one.pageInfo.endCursor);
    const three = await ask(100, two.edges[4].cursor);
    expect(two.nodes.map(({ n }: { n: number }) => n)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    expect(three.nodes.map(({ n }: { n: number }) => n)).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
    expect(three.pageInfo.hasNextPage).toBe(false);
  });

  test('returns an empty list', async () => {
    const ask = await start(0);
    expect(await ask(5)).toMatchObject({
      nodes: [],
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  test('refuses cursors that are not of this connection before any call', async () => {
    const ask = await start(5);
    await ask(1);
    const before = service?.seen.length;
    const base64 = (value: string) => Buffer.from(value).toString('base64url');
    const foreign = [
      '',
      'x',
      base64('{"i":-1}'),
      base64('{"i":1,"x":2}'),
      base64('{"c":"a","i":1}'),
      base64('{"i":1} '),
      base64('{"i":1,"c":"\\u0061"}'),
      base64(`{"i":1,"c":"${'a'.repeat(2000)}"}`),
      base64('{"i":1,"c":7}'),
      ...(cursor ? [] : [base64('{"i":1,"c":"a"}')]),
    ];
    for (const after of foreign) {
      const { body } = await (service as MappedService).ask(QUERY, { first: 1, after });
      expect(body.errors?.[0].extensions.code, after).toBe('BAD_USER_INPUT');
    }
    expect(service?.seen.length).toBe(before);
  });
});

test('paging with OFFSET requests only the pages that cover the window', async () => {
  const { mapping: text, answer } = STYLES.OFFSET as (typeof STYLES)[string];
  service = await mapService(TYPES, text, answer(45));
  const { body } = await service.ask(QUERY, { first: 12, after: Buffer.from('{"i":17}').toString('base64url') });
  expect(body.data.viewer.items).toMatchObject({
    totalCount: 45,
    pageInfo: { hasNextPage: true, hasPreviousPage: true },
  });
  expect(service.seen.map(({ url }) => url.search)).toEqual(['?from=10&count=10', '?from=20&count=10']);
});

test('paging with CURSOR puts a client’s cursor into the query, encoded, and nowhere else', async () => {
  const { mapping: text } = STYLES.CURSOR as (typeof STYLES)[string];
  service = await mapService(TYPES, text, () => ({ json: { items: [], next: null } }));
  await service.ask(QUERY, { first: 1, after: Buffer.from('{"i":0,"c":"a&limit=9#/../"}').toString('base64url') });
  expect(service.seen.map(({ url }) => url.pathname + url.search)).toEqual([
    '/items?cursor=a%26limit%3D9%23%2F..%2F&limit=10',
  ]);
});

test('paging with CURSOR gives up on pages that never end', async () => {
  const { mapping: text } = STYLES.CURSOR as (typeof STYLES)[string];
  service = await mapService(TYPES, text, () => ({ json: { items: [], next: 'again' } }));
  const { body } = await service.ask(QUERY, { first: 1 });
  expect(body.errors[0].extensions.code).toBe('UPSTREAM_BAD_RESPONSE');
  // Identical calls are made once, so a cycle costs one call.
  expect(service.seen.length).toBe(2);
});

test('paging with ALL counts the whole list, and requests it once', async () => {
  const { mapping: text, answer } = STYLES.ALL as (typeof STYLES)[string];
  service = await mapService(TYPES, text, answer(45));
  const { body } = await service.ask(
    '{ viewer { a: items(first: 2) { totalCount nodes { n } } b: items(first: 0) { totalCount pageInfo { hasNextPage } } } }',
  );
  expect(body.data.viewer).toEqual({
    a: { totalCount: 45, nodes: [{ n: 0 }, { n: 1 }] },
    b: { totalCount: 45, pageInfo: { hasNextPage: true } },
  });
  expect(service.seen.length).toBe(1);
});

test.each<[string, string, string]>([
  ['OFFSET without its offset', 'style: OFFSET, pageSize: 10, nodes: "$"', 'http does not use $page.offset'],
  ['CURSOR without next', 'style: CURSOR, pageSize: 10, nodes: "$"', 'the argument next is missing'],
  ['PAGE without a size', 'style: PAGE, nodes: "$"', 'the argument pageSize is missing'],
  ['ALL with a size', 'style: ALL, pageSize: 10, nodes: "$"', 'has no pageSize'],
  ['ALL with next', 'style: ALL, nodes: "$", next: "$.n"', 'has no next'],
])('reports a mistake: %s', async (_name, connection, said) => {
  await expect(mapService(TYPES, mapping('{ GET: "/items" }', connection), () => ({ json: [] }))).rejects.toThrow(said);
});

test('reports $page of another style as a mistake', async () => {
  const text = mapping('{ GET: "/items", queryParams: "p: $page.number" }', 'style: ALL, nodes: "$"');
  await expect(mapService(TYPES, text, () => ({ json: [] }))).rejects.toThrow('$page has no number, only nothing');
});
