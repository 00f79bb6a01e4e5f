import { afterEach, expect, test } from 'vitest';
import type { CallUpstream, UpstreamRequest } from '../../src/upstream/request.ts';
import { contractFiles, startAccount, type TestAccount } from './support/account.ts';

/** A mapping that differs from the demo's: other names, no totals, small batches, headers, arguments. */
const CONTRACT = `
  type Query { viewer: Me!  book(isbn: String!): Book  teapot: String }
  type Me { id: ID!  loans(first: Int, after: String): LoanConnection  shelf(tag: String): [Loan!] }
  type LoanConnection { nodes: [Loan!]! pageInfo: PageInfo! totalCount: Int }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type Loan { isbn: ID! title: String state: State }
  type Book { isbn: ID! }
  enum State { OUT BACK }
`;
const MAPPING = `
  extend schema @source(name: "library", http: { headers: [{ name: "X-Tenant", value: "north" }] })
  extend type Query {
    book: Book @connect(source: "library", http: { GET: "/books/{$args.isbn}" }, selection: "isbn")
    teapot: String @connect(
      source: "library"
      http: { GET: "/teapot", headers: [{ name: "X-Reader", value: "id={$context.sub}" }] }
      selection: "$.state"
    )
  }
  extend type Me {
    loans: LoanConnection
      @connect(source: "library", http: { GET: "/loans", queryParams: "p: $page.number" }, selection: "isbn")
      @connection(style: PAGE, pageSize: 10, nodes: "$")
    shelf: [Loan!] @connect(
      source: "library", http: { GET: "/shelf", queryParams: "t: $args.tag" }, selection: "$.rows { isbn }"
    )
  }
  extend type Loan @connect(
    source: "library", batch: { maxSize: 4 }
    http: { GET: "/titles", queryParams: "isbn: $batch.isbn" }
    selection: "$ { isbn title state: st }"
  )
`;

let account: TestAccount | undefined;
afterEach(() => account?.close());

/** A library with `count` loans; paths that contain `broken` get 500. */
async function library(count: number, broken = 'nothing') {
  const seen: UpstreamRequest[] = [];
  const call: CallUpstream = async (request) => {
    seen.push(request);
    const url = new URL(request.path, 'http://library.invalid');
    const isbns = Array.from({ length: count }, (_, index) => ({ isbn: index }));
    const page = Number(url.searchParams.get('p'));
    const bodies: Record<string, unknown> = {
      '/loans': isbns.slice((page - 1) * 10, page * 10),
      '/shelf': { rows: isbns.slice(0, 2) },
      '/titles': url.searchParams
        .getAll('isbn')
        .map((isbn) => ({ isbn: Number(isbn), title: `T${isbn}`, st: isbn === '1' ? 'LOST' : 'OUT' })),
      '/teapot': { state: 'short' },
    };
    const status = request.path.includes(broken) ? 500 : 200;
    return { status, headers: {}, body: JSON.stringify(bodies[url.pathname] ?? { isbn: url.pathname }) };
  };
  account = await startAccount({
    call,
    schema: contractFiles(CONTRACT),
    mappings: [{ file: 'l.graphql', text: MAPPING }],
    upstreams: ['library'],
  });
  return { ask: account.ask, seen, paths: () => seen.map(({ path }) => path) };
}

test('without next and total, the following page is requested only when the window ends with its page', async () => {
  const ask = async (count: number, first: number) => {
    const { ask, paths } = await library(count);
    const { body } = await ask(
      `{ viewer { loans(first: ${first}) { pageInfo { hasNextPage } totalCount nodes { isbn } } } }`,
    );
    const { nodes, pageInfo, totalCount } = body.data.viewer.loans;
    await account?.close();
    account = undefined;
    return [nodes.length, pageInfo.hasNextPage, totalCount, paths()];
  };
  expect(await ask(15, 9)).toEqual([9, true, null, ['/loans?p=1']]);
  expect(await ask(15, 10)).toEqual([10, true, null, ['/loans?p=1', '/loans?p=2']]);
  expect(await ask(10, 10)).toEqual([10, false, null, ['/loans?p=1', '/loans?p=2']]);
  expect(await ask(9, 20)).toEqual([9, false, null, ['/loans?p=1']]);
});

test('a batch is split by maxSize, and a failed part affects only its own keys', async () => {
  const { ask, paths } = await library(6, 'isbn=4');
  const { body } = await ask('{ viewer { loans { nodes { isbn title } } } }');
  expect(body.data.viewer.loans.nodes.map(({ title }: { title: unknown }) => title)).toEqual([
    'T0',
    'T1',
    'T2',
    'T3',
    null,
    null,
  ]);
  expect(body.errors.map(({ path }: { path: unknown[] }) => path[3])).toEqual([4, 5]);
  expect(paths()).toEqual(['/loans?p=1', '/titles?isbn=0&isbn=1&isbn=2&isbn=3', '/titles?isbn=4&isbn=5']);
});

test('fields requested together share a batch, and lists of objects are batched too', async () => {
  const { ask, paths } = await library(2);
  const { body } = await ask('{ viewer { loans { nodes { isbn title } } shelf(tag: "a&b=c") { title } } }');
  expect(body.data.viewer.shelf).toEqual([{ title: 'T0' }, { title: 'T1' }]);
  expect(paths().sort()).toEqual(['/loans?p=1', '/shelf?t=a%26b%3Dc', '/titles?isbn=0&isbn=1']);
});

test('a value outside an enum is an upstream error at its own path', async () => {
  const { ask } = await library(2);
  const { body, text } = await ask('{ viewer { loans { nodes { state } } } }');
  expect(body.data.viewer.loans.nodes).toEqual([{ state: 'OUT' }, { state: null }]);
  expect(body.errors).toMatchObject([
    { path: ['viewer', 'loans', 'nodes', 1, 'state'], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } },
  ]);
  expect(text).not.toContain('LOST');
});

test('an argument stays within its path segment, and one that cannot is a client error', async () => {
  const { ask, paths } = await library(0);
  expect((await ask('{ book(isbn: "a?b#c") { isbn } }')).body.data.book).toEqual({ isbn: '/books/a%3Fb%23c' });
  for (const isbn of ['..', '', '../admin?x=', 'a/b', '\\\\']) {
    const { body } = await ask(`{ book(isbn: "${isbn}") { isbn } }`);
    expect([body.data, body.errors[0].extensions.code]).toEqual([{ book: null }, 'BAD_USER_INPUT']);
  }
  expect(paths()).toEqual(['/books/a%3Fb%23c']);
});

test('headers of the source and of the call are sent, together with the principal', async () => {
  const { ask, seen } = await library(0);
  expect((await ask('{ teapot }')).body.data.teapot).toBe('short');
  expect(seen[0]).toMatchObject({
    upstream: 'library',
    method: 'GET',
    headers: { accept: 'application/json', 'x-tenant': 'north', 'x-reader': 'id=m-1001' },
    principal: { sub: 'm-1001' },
  });
});
