import { buildClientSchema, buildSchema, getIntrospectionQuery, lexicographicSortSchema, printSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leastCost } from '../support/pace.ts';
import { CONTRACT_FILE, callOver, startAccount, type TestAccount } from './support/account.ts';
import { startSchool, type TestSchool } from './support/school.ts';

let school: TestSchool;
let account: TestAccount;

beforeAll(async () => {
  school = await startSchool(5);
  account = await startAccount({ call: callOver(school.origin), bodyLimit: 64 * 1024 });
});
afterAll(async () => {
  await account.close();
  await school.close();
});

const OLD = 'application/json';
const NEW = 'application/graphql-response+json';
const viewer = JSON.stringify({ query: '{ viewer { id } }' });
const of = (query: unknown, more: object = {}) => JSON.stringify({ query, ...more });

describe('a malformed request is refused:', () => {
  const type = (contentType: string, accept = OLD) => ({ 'content-type': contentType, accept });
  test.each<[name: string, status: number, code: string, body: string | Uint8Array, headers: Record<string, string>]>([
    ['another content type', 415, 'UNSUPPORTED_MEDIA_TYPE', viewer, type('text/plain')],
    ['a form', 415, 'UNSUPPORTED_MEDIA_TYPE', 'query={viewer{id}}', type('application/x-www-form-urlencoded')],
    ['bare GraphQL', 415, 'UNSUPPORTED_MEDIA_TYPE', '{viewer{id}}', type('application/graphql')],
    ['another charset', 415, 'UNSUPPORTED_MEDIA_TYPE', viewer, type('application/json; charset=latin1')],
    ['compression', 415, 'UNSUPPORTED_MEDIA_TYPE', viewer, { 'content-encoding': 'gzip' }],
    ['an Accept that we cannot meet', 406, 'NOT_ACCEPTABLE', viewer, { accept: 'text/html' }],
    ['an Accept that refuses', 406, 'NOT_ACCEPTABLE', viewer, { accept: '*/*;q=0' }],
    ['a body that is too long', 413, 'PAYLOAD_TOO_LARGE', of('x'.repeat(70_000)), {}],
    ['no JSON', 400, 'INVALID_REQUEST', '{"query":', {}],
    ['no UTF-8', 400, 'INVALID_REQUEST', new Uint8Array([0x22, 0xff, 0x22]), {}],
    ['an empty body', 400, 'INVALID_REQUEST', '', {}],
    ['a batch', 400, 'INVALID_REQUEST', `[${viewer}]`, {}],
    ['a JSON string', 400, 'INVALID_REQUEST', '"{viewer{id}}"', {}],
    ['null', 400, 'INVALID_REQUEST', 'null', {}],
    ['no query', 400, 'INVALID_REQUEST', '{}', {}],
    ['a query that is an object', 400, 'INVALID_REQUEST', of({}), {}],
    ['variables that are a list', 400, 'INVALID_REQUEST', of('{viewer{id}}', { variables: [] }), {}],
    ['variables that are a string', 400, 'INVALID_REQUEST', of('{viewer{id}}', { variables: '{}' }), {}],
    ['an operationName that is a number', 400, 'INVALID_REQUEST', of('{viewer{id}}', { operationName: 1 }), {}],
    [
      'JSON of 65 levels',
      400,
      'INVALID_REQUEST',
      `{"query":"{viewer{id}}","variables":{"a":${'['.repeat(63)}${']'.repeat(63)}}}`,
      {},
    ],
    ['extensions that are a string', 400, 'INVALID_REQUEST', of('{viewer{id}}', { extensions: 'x' }), {}],
  ])('%s', async (_name, status, code, body, headers) => {
    const reply = await account.send(body, headers);
    expect([reply.status, reply.body.errors[0].extensions.code]).toEqual([status, code]);
    expect(reply.body.data).toBeUndefined();
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(account.errors).toEqual([]);
  });
});

describe('the media type of a response', () => {
  test.each([
    [undefined, OLD],
    ['*/*', OLD],
    ['application/*', OLD],
    [OLD, OLD],
    [NEW, NEW],
    [`${NEW}; charset=utf-8, ${OLD}; charset=utf-8`, NEW],
    [`${OLD}, ${NEW}`, NEW],
    [`${NEW};q=0.5, ${OLD};q=0.9`, OLD],
    [`${OLD};q=0, */*`, NEW],
    [`text/html, ${NEW};q=0.1`, NEW],
  ])('to Accept: %s is %s', async (accept, type) => {
    const reply = await account.send(viewer, accept === undefined ? {} : { accept });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
    expect(reply.text).toBe('{"data":{"viewer":{"id":"m-1001"}}}');
  });
});

const many = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => of(index)).join(' ');
const nested = (depth: number) => `${'{ a'.repeat(depth)} ${'}'.repeat(depth)}`;

describe('a document that exceeds a limit or is invalid', () => {
  test.each<[name: string, code: string, query: string, more?: object]>([
    ['too many directives', 'MAX_DIRECTIVES_EXCEEDED', `{ viewer { id ${many(51, () => '@include(if: true)')} } }`],
    [
      'too many directives in fragments',
      'MAX_DIRECTIVES_EXCEEDED',
      `{ viewer { ...F ...F @skip(if: false) } } fragment F on Viewer { id ${many(25, () => '@include(if: true)')} }`,
    ],
    ['a syntax error', 'GRAPHQL_PARSE_FAILED', '{ viewer { id }'],
    ['an empty document', 'GRAPHQL_PARSE_FAILED', ''],
    ['more than 1000 tokens', 'GRAPHQL_PARSE_FAILED', `{ ${many(1001, () => 'a')} }`],
    ['an unknown field', 'GRAPHQL_VALIDATION_FAILED', '{ viewer { emial } }'],
    ['a mutation', 'GRAPHQL_VALIDATION_FAILED', 'mutation { a }'],
    ['a subscription', 'GRAPHQL_VALIDATION_FAILED', 'subscription { a }'],
    ['an empty selection', 'GRAPHQL_VALIDATION_FAILED', '{ viewer { } }'],
    ['an empty operation', 'GRAPHQL_VALIDATION_FAILED', '{ }'],
    ['an empty fragment', 'GRAPHQL_VALIDATION_FAILED', '{ viewer { id ...F } } fragment F on Viewer { }'],
    ['an empty inline fragment', 'GRAPHQL_VALIDATION_FAILED', '{ viewer { id ... { } } }'],
    ['too deep', 'MAX_DEPTH_EXCEEDED', nested(13)],
    [
      'too deep by fragments',
      'MAX_DEPTH_EXCEEDED',
      `${nested(7).replace('a }', 'a { ...F } }')} fragment F on Viewer ${nested(7)}`,
    ],
    ['too many fields', 'MAX_FIELDS_EXCEEDED', `{ viewer { ${many(400, () => 'id')} } }`],
    ['too many aliases', 'MAX_ALIASES_EXCEEDED', `{ viewer { ${many(31, (index) => `a${index}: id`)} } }`],
    ['too many root fields', 'MAX_ROOT_FIELDS_EXCEEDED', `{ ${many(11, () => 'viewer { id }')} }`],
    [
      'root fields in a fragment',
      'MAX_ROOT_FIELDS_EXCEEDED',
      `{ ...F ...F } fragment F on Query { ${many(6, () => 'viewer { id }')} }`,
    ],
    [
      'a cycle',
      'GRAPHQL_VALIDATION_FAILED',
      '{ viewer { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }',
    ],
    ['a missing fragment', 'GRAPHQL_VALIDATION_FAILED', '{ viewer { id ...Gone } }'],
    [
      'a fan-out to a missing fragment',
      'GRAPHQL_VALIDATION_FAILED',
      `{ viewer { ...F0 } } ${many(60, (index) => `fragment F${index} on Viewer { ...F${index + 1} ...F${index + 1} }`)}`,
    ],
    ['the same field 46 times in one place', 'MAX_FIELDS_EXCEEDED', `{ viewer { ${many(46, () => 'id')} } }`],
    [
      'the same place again and again, by fragments and two levels',
      'MAX_FIELDS_EXCEEDED',
      `{ viewer { ${many(20, () => '...F')} } ${many(8, () => 'viewer { ...F ...F }')} } fragment F on Viewer { enrolledCourses { nodes { slug } } }`,
    ],
    [
      '46 fragments in one place, of different fields',
      'MAX_FIELDS_EXCEEDED',
      `{ viewer { ${many(46, (index) => `...F${index}`)} } } ${many(46, (index) => `fragment F${index} on Viewer { f${index} }`)}`,
    ],
    [
      'a value of 17 lists in lists',
      'MAX_DEPTH_EXCEEDED',
      `{ viewer { enrolledCourses(first: ${'['.repeat(17)}1${']'.repeat(17)}) { totalCount } } }`,
    ],
    [
      'a fan-out',
      'MAX_FIELDS_EXCEEDED',
      `{ viewer { ...F0 } } ${many(25, (index) => `fragment F${index} on Viewer { ...F${index + 1} ...F${index + 1} }`)} fragment F25 on Viewer { id }`,
    ],
    [
      'deep introspection',
      'GRAPHQL_VALIDATION_FAILED',
      `{ __schema { types ${'{ fields { type '.repeat(6)} { name } ${'} }'.repeat(6)} } }`,
    ],
    [
      'a variable of the wrong kind',
      'BAD_USER_INPUT',
      'query ($n: Int) { viewer { enrolledCourses(first: $n) { totalCount } } }',
      { variables: { n: 'x' } },
    ],
    [
      'a missing variable',
      'BAD_USER_INPUT',
      'query ($n: Int!) { viewer { enrolledCourses(first: $n) { totalCount } } }',
    ],
    ['an unknown operation', 'BAD_USER_INPUT', 'query A { viewer { id } }', { operationName: 'B' }],
    [
      'several operations without operationName',
      'BAD_USER_INPUT',
      'query A { viewer { id } } query B { viewer { id } }',
    ],
  ])('is refused: %s', async (_name, code, query, more) => {
    for (const [accept, status] of [
      [OLD, 200],
      [NEW, 400],
      [NEW, 400],
    ] as const) {
      const reply = await account.send(of(query, more), { accept });
      expect([reply.status, reply.body.errors[0].extensions]).toEqual([status, { code }]);
      expect(reply.body).not.toHaveProperty('data');
      expect(reply.text).not.toMatch(/did you mean/i);
    }
    expect(account.errors).toEqual([]);
  });

  test('is accepted just within the limits', async () => {
    for (const [query, variables] of [
      [`{ viewer { ${many(45, () => 'id')} } }`],
      [
        `{ viewer { ${many(30, (index) => `...F${index}`)} } } ${many(30, (index) => `fragment F${index} on Viewer { ${index % 2 ? 'id' : '__typename'} }`)}`,
      ],
      ['{ viewer { id } }', { text: '"[{'.repeat(100), deep: JSON.parse(`${'['.repeat(62)}${']'.repeat(62)}`) }],
    ] as const) {
      expect((await account.ask(query, variables)).body.data.viewer).toMatchObject({ id: 'm-1001' });
    }
  });

  test('has at most a few errors listed', async () => {
    const { body } = await account.ask(`{ viewer { ${many(200, (index) => `x${index}`)} } }`);
    expect(body.errors.length).toBeLessThanOrEqual(6);
  });

  test('costs little to refuse even at the maximum size', async () => {
    const attacks = [
      `{ ${many(3000, (index) => `a${index}: viewer { id }`)} }`,
      `{ viewer { ${many(400, () => 'enrolledCourses { nodes { slug } }')} } }`,
      `{ viewer { id ${'@a'.repeat(3000)} } }`,
      `{ viewer { ...F0 } } ${many(60, (index) => `fragment F${index} on Viewer { ...F${index + 1} ...F${index + 1} }`)} fragment F60 on Viewer { id }`,
    ];
    for (const attack of attacks) {
      const refuse = async () => expect((await account.ask(attack)).body).not.toHaveProperty('data');
      // Without protection, the first three take hundreds of milliseconds and the last never finishes.
      expect(await leastCost(200, refuse)).toBeLessThan(200);
    }
  });

  test('is a client error when a directive gets null for a required value', async () => {
    const { body } = await account.ask('query ($x: Boolean = true) { viewer { id @skip(if: $x) } }', { x: null });
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });
});

describe('introspection', () => {
  test('shows the contract and nothing of the mapping', async () => {
    const { body, text } = await account.ask(getIntrospectionQuery({ specifiedByUrl: true }));
    // The directives are not shown; the description of a field names its scopes.
    const shown = CONTRACT_FILE.replace(/ @(requiresScopes|listSize)\([^)]*\)/g, '').replace(
      /it was not (saved|given up)\."/g,
      'it was not $1. Needs account:write."',
    );
    const sorted = (schema: Parameters<typeof printSchema>[0]) => printSchema(lexicographicSortSchema(schema));
    expect(sorted(buildClientSchema(body.data))).toBe(sorted(buildSchema(shown)));
    expect(body.data.__schema.directives.map(({ name }: { name: string }) => name).sort()).toEqual([
      'deprecated',
      'include',
      'oneOf',
      'skip',
      'specifiedBy',
    ]);
    for (const part of [
      'connect',
      'source',
      'batch',
      'HTTP',
      'api/v1',
      'progress',
      '@',
      'membersByIds',
      'cancelled',
      'internalAudit',
      'deleteMember',
    ])
      expect(text).not.toContain(part === 'connect' ? '"connect"' : part);
  });

  test('has a description of every part of the contract', async () => {
    const { body } = await account.ask(
      '{ __schema { types { name description fields { name description args { name description } } } } }',
    );
    const bare: string[] = [];
    for (const type of body.data.__schema.types) {
      if (type.name.startsWith('__')) continue;
      if (!type.description) bare.push(type.name);
      for (const field of type.fields ?? []) {
        if (!field.description) bare.push(`${type.name}.${field.name}`);
        for (const argument of field.args)
          if (!argument.description) bare.push(`${type.name}.${field.name}(${argument.name})`);
      }
    }
    expect(bare).toEqual([]);
  });

  test('can be disabled, except for __typename', async () => {
    const closed = await startAccount({ call: callOver(school.origin), introspection: false });
    for (const query of ['{ __schema { types { name } } }', '{ viewer { id } __type(name: "Viewer") { name } }']) {
      const { body } = await closed.ask(query);
      expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(body).not.toHaveProperty('data');
    }
    expect((await closed.ask('{ __typename viewer { __typename } }')).body).toEqual({
      data: { __typename: 'Query', viewer: { __typename: 'Viewer' } },
    });
    await closed.close();
  });
});
