import { AS_MEMBER, type Attempt, asciiJson, JSON_TYPE, lines, product, refused, request } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

const repeated = (count: number, piece: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => piece(at)).join(' ');
const call = (name: unknown, args: unknown = {}) =>
  asciiJson({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
const message = (method: unknown, more: object = {}) =>
  asciiJson({ jsonrpc: '2.0', id: 1, method, params: {}, ...more });

/** Messages that are refused for every sender, with the status of the response. */
const MESSAGES: readonly (readonly [string, string, number])[] = [
  ['no JSON', '{"jsonrpc": ', 400],
  ['no message', ' ', 400],
  ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}', 400],
  ['invalid UTF-8', '{"\xc3(":1}', 400],
  ['a batch', `[${message('tools/list')},${message('tools/list')}]`, 400],
  ['an empty batch', '[]', 400],
  ['a number', '7', 400],
  ['a text', '"tools/list"', 400],
  ['null', 'null', 400],
  ['another object', '{"hello":"world"}', 400],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400],
  ['no version', '{"id":1,"method":"tools/list"}', 400],
  ['id null', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', 400],
  ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', 400],
  ['a list as id', '{"jsonrpc":"2.0","id":[1],"method":"tools/list"}', 400],
  ['a number as method', message(7), 400],
  ['an object as method', message({}), 400],
  ['a text as parameters', message('tools/list', { params: 'x' }), 400],
  [
    'depth 10,000',
    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
    400,
  ],
  [
    'lists 10,000 deep',
    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}}`,
    400,
  ],
];

/** Calls of something that does not exist or that the caller may not use: a JSON-RPC error without member data. */
const CALLS: readonly (readonly [string, string])[] = [
  ['an unknown method', message('no/such')],
  ['a method of the runtime', message('__proto__')],
  ['an unknown tool', call('no_such_tool')],
  ['a tool of the runtime', call('__proto__')],
  ['the constructor', call('constructor')],
  ['a path', call('../../etc/passwd')],
  ['an empty name', call('')],
  ['a number as name', call(7)],
  ['a list as name', call(['get_my_account'])],
  ['arguments that are a list', call('search_courses', [])],
  ['arguments that are text', call('search_courses', 'x')],
  ['an unknown argument', call('get_my_account', { member_id: 'm-1002' })],
  ['another member by id', call('get_my_account', { id: 'm-1002', sub: 'm-1002', user_id: 'm-1002' })],
  [
    'another member by _meta',
    message('tools/call', { params: { name: 'get_my_account', arguments: {}, _meta: { member: 'm-1002' } } }),
  ],
  ['a resource of the file system', message('resources/read', { params: { uri: 'file:///etc/passwd' } })],
  ['a resource elsewhere', message('resources/read', { params: { uri: 'http://169.254.169.254/' } })],
  ['a prompt that is not there', message('prompts/get', { params: { name: '__proto__' } })],
  ['the level of the log', message('logging/setLevel', { params: { level: 'debug' } })],
  ['sampling', message('sampling/createMessage')],
];

const CALLERS = [
  { who: 'a stranger', path: '/mcp', fields: '', enters: true },
  { who: 'a member', path: '/mcp', fields: AS_MEMBER, enters: true },
  { who: 'a member at the door of members', path: '/mcp/member', fields: AS_MEMBER, enters: true },
  { who: 'a stranger at the door of members', path: '/mcp/member', fields: '', enters: false },
] as const;

export const mcpAbuse: Family<SchoolStand> = {
  name: 'MCP abuse',
  attempts: () => [
    ...product(MESSAGES, CALLERS).map(
      ([[what, body, status], { who, path, fields, enters }]): Attempt => ({
        name: `${what}, by ${who}`,
        bytes: request('POST', path, JSON_TYPE + fields, body),
        expected: refused(enters ? status : 401),
      }),
    ),
    ...product(
      CALLS,
      CALLERS.filter(({ fields }) => fields === ''),
    ).map(
      ([[what, body], { who, path, fields, enters }]): Attempt => ({
        name: `${what}, by ${who}`,
        bytes: request('POST', path, JSON_TYPE + fields, body),
        expected: enters ? { statuses: [[200, 400]], has: /"error":|"isError":true/ } : refused(401),
      }),
    ),
    ...product(CALLERS, [
      ['another content type', lines('Content-Type: text/plain'), 415],
      ['a form', lines('Content-Type: application/x-www-form-urlencoded'), 415],
      ['compression', JSON_TYPE + lines('Content-Encoding: gzip'), 415],
      ['a page elsewhere', JSON_TYPE + lines('Origin: https://evil.test'), 403],
      ['a page without an origin', JSON_TYPE + lines('Origin: null'), 403],
      ['a page of a similar name', JSON_TYPE + lines('Origin: https://claude.ai.evil.test'), 403],
      ['a version that is not spoken', JSON_TYPE + lines('MCP-Protocol-Version: 1999-01-01'), 400],
    ] as const).map(
      ([{ who, path, fields, enters }, [what, more, status]]): Attempt => ({
        name: `${what}, by ${who}`,
        bytes: request('POST', path, more + fields, message('tools/list')),
        // Without a token, it does not matter whether the page or the token is checked first.
        expected: refused(enters ? status : [status, 401]),
      }),
    ),
    ...product(CALLERS, ['GET', 'PUT', 'PATCH', 'DELETE']).map(
      ([{ who, path, fields }, method]): Attempt => ({
        name: `${method}, by ${who}`,
        bytes: request(method, path, fields),
        expected: refused(405),
      }),
    ),
    // DNS rebinding: another name that resolves to this machine.
    ...product(CALLERS, ['evil.test', 'localhost.evil.test', '127.0.0.1', 'localhost', '[::1]']).map(
      ([{ who, path, fields, enters }, host]): Attempt => ({
        name: `the host ${host}, by ${who}`,
        bytes: request('POST', path, JSON_TYPE + fields, message('tools/list')).replace(
          'Host: {HOST}',
          `Host: ${host}`,
        ),
        expected: refused(enters ? 403 : 401),
      }),
    ),
  ],
};

const DOCUMENTS: readonly (readonly [string, string])[] = [
  ['a syntax error', '{ viewer { id }'],
  ['an empty document', ''],
  ['1,001 tokens', `{ ${repeated(1_001, () => 'a')} }`],
  ['an unknown field', '{ viewer { password } }'],
  ['a member by argument', '{ viewer(id: "m-1002") { id } }'],
  ['a member by another field', '{ member(id: "m-1002") { id email } }'],
  ['a node', '{ node(id: "m-1002") { id } }'],
  ['all members', '{ members { nodes { id email } } }'],
  ['a mutation that is not there', 'mutation { deleteMember(id: "m-1002") }'],
  ['a subscription', 'subscription { viewer { id } }'],
  ['depth 13', `${'{ a'.repeat(13)} ${'}'.repeat(13)}`],
  ['depth 200', `${'{ a'.repeat(200)} ${'}'.repeat(200)}`],
  ['400 fields', `{ viewer { ${repeated(400, () => 'id')} } }`],
  ['31 aliases', `{ viewer { ${repeated(31, (at) => `a${at}: id`)} } }`],
  ['11 root fields', `{ ${repeated(11, () => 'viewer { id }')} }`],
  ['51 directives', `{ viewer { id ${repeated(51, () => '@include(if: true)')} } }`],
  ['a cycle', '{ viewer { ...A } } fragment A on Viewer { ...B } fragment B on Viewer { ...A }'],
  ['a fragment of itself', '{ viewer { ...A } } fragment A on Viewer { ...A }'],
  [
    'a fan-out',
    `{ viewer { ...F0 } } ${repeated(60, (at) => `fragment F${at} on Viewer { ...F${at + 1} ...F${at + 1} }`)}`,
  ],
  ['a fragment that is not there', '{ viewer { ...Gone } }'],
  ['two operations without a name', '{ viewer { id } } { viewer { email } }'],
  [
    'a cost beyond the limit',
    `{ viewer { ${repeated(30, (at) => `a${at}: enrolledCourses(first: 100) { nodes { slug lastWatchedLecture { lectureId } } }`)} } }`,
  ],
];
/** With `Accept: application/json`, a well-formed request gets 200, with its errors in the body. */
const BODIES: readonly (readonly [string, string, number])[] = [
  ['no JSON', '{"query":', 400],
  ['no body', ' ', 400],
  ['a batch', '[{"query":"{ viewer { id } }"},{"query":"{ viewer { id } }"}]', 400],
  ['a text', '"{ viewer { id } }"', 400],
  ['null', 'null', 400],
  ['no query', '{}', 400],
  ['a query that is an object', '{"query":{}}', 400],
  ['a query that is a list', '{"query":["{ viewer { id } }"]}', 400],
  ['variables that are a list', '{"query":"{ viewer { id } }","variables":[]}', 400],
  ['variables that are text', '{"query":"{ viewer { id } }","variables":"{}"}', 400],
  ['an operationName that is a number', '{"query":"{ viewer { id } }","operationName":1}', 400],
  ['an operation that is not there', '{"query":"query A { viewer { id } }","operationName":"B"}', 200],
  ['a document id that is a path', '{"documentId":"../../etc/passwd"}', 200],
  ['a document id of the runtime', '{"documentId":"__proto__"}', 200],
  ['extensions that are text', '{"query":"{ viewer { id } }","extensions":"x"}', 400],
  ['65 levels', `{"query":"{ viewer { id } }","variables":{"a":${'['.repeat(63)}${']'.repeat(63)}}}`, 400],
];

/** The Account API exists in Profile A only; in Profile B its path belongs to the school. */
export const graphqlAbuse: Family<SchoolStand> = {
  name: 'GraphQL abuse',
  attempts: ({ profile }) => {
    const all = [...BODIES, ...DOCUMENTS.map(([what, query]) => [what, asciiJson({ query }), 200] as const)];
    if (profile === 'B') {
      return product(all, [AS_MEMBER, '']).map(
        ([[what, body], fields]): Attempt => ({
          name: `${what} where there is no Account API, ${fields === '' ? 'without' : 'with'} a token`,
          bytes: request('POST', '/account/graphql', JSON_TYPE + fields, body),
          expected: { statuses: [404], upstream: ['some'] },
        }),
      );
    }
    return [
      ...product(all, [AS_MEMBER, '']).map(
        ([[what, body, status], fields]): Attempt => ({
          name: `${what}, ${fields === '' ? 'without' : 'with'} a token`,
          bytes: request('POST', '/account/graphql', JSON_TYPE + fields, body),
          expected: {
            statuses: [fields === '' ? 401 : status],
            has: fields === '' ? /invalid_token/ : /"errors":/,
            lacks: /"data":\{/,
          },
        }),
      ),
      ...product([AS_MEMBER, ''], [
        ['GET with a query', request('GET', '/account/graphql?query=%7B%20viewer%20%7B%20id%20%7D%20%7D'), 405],
        ['PUT', request('PUT', '/account/graphql', JSON_TYPE, '{"query":"{ viewer { id } }"}'), 405],
        [
          'a form',
          request('POST', '/account/graphql', lines('Content-Type: application/x-www-form-urlencoded'), 'query=x'),
          415,
        ],
        [
          'text',
          request('POST', '/account/graphql', lines('Content-Type: text/plain'), '{"query":"{ viewer { id } }"}'),
          415,
        ],
        [
          'GraphQL',
          request('POST', '/account/graphql', lines('Content-Type: application/graphql'), '{ viewer { id } }'),
          415,
        ],
        ['compression', request('POST', '/account/graphql', JSON_TYPE + lines('Content-Encoding: gzip'), 'x'), 415],
      ] as const).map(
        ([fields, [what, bytes, status]]): Attempt => ({
          name: `${what}, ${fields === '' ? 'without' : 'with'} a token`,
          bytes: bytes.replace('Connection: close\r\n', `Connection: close\r\n${fields}`),
          expected: refused(fields === '' ? [401, 405] : status),
        }),
      ),
    ];
  },
};
