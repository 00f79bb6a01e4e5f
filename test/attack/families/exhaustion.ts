import { gzipSync } from 'node:zlib';
import { AS_MEMBER, type Attempt, FORM_TYPE, JSON_TYPE, lines, product, refused, request } from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

const MIB = 1024 * 1024;

/** Every endpoint that reads a body itself, with its limit. */
const READERS = [
  { path: '/api/oauth/register', fields: JSON_TYPE, limit: 16 * 1024 },
  { path: '/api/oauth/par', fields: FORM_TYPE, limit: 56 * 1024 },
  { path: '/api/oauth/token', fields: FORM_TYPE, limit: 56 * 1024 },
  { path: '/api/oauth/revoke', fields: FORM_TYPE, limit: 56 * 1024 },
  { path: '/api/oauth/introspect', fields: FORM_TYPE, limit: 56 * 1024 },
  { path: '/mcp', fields: JSON_TYPE, limit: 1 * MIB },
  { path: '/mcp/member', fields: JSON_TYPE + AS_MEMBER, limit: 1 * MIB },
] as const;

const many = (count: number, piece: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => piece(at)).join('');
const SLOW_TO_READ: readonly (readonly [string, string, string, number])[] = [
  ['2,000 query keys', `?${many(2_000, (at) => `${at % 10}&`)}`, '', 200],
  ['10,000 query keys', `?${many(10_000, (at) => `${at}=&`)}`, '', 431],
  ['a query of 9 kB', `?${'a'.repeat(9_000)}`, '', 414],
  ['1,500 cookies', '', lines(`Cookie: ${many(1_500, (at) => `c${at}=x; `)}`), 200],
  ['700 Cookie fields', '', many(700, (at) => `Cookie: c${at}=x\r\n`), 200],
  ['2,100 fields', '', many(2_100, () => 'A:1\r\n'), 431],
  ['16 kB of fields', '', lines(`A: ${'x'.repeat(16_384)}`), 431],
  ['an Accept of many parts', '', lines(`Accept: ${'text/htm;q=0.1,'.repeat(900)}`), 200],
  ['a Connection of many names', '', lines(`Connection: ${many(2_000, (at) => `x${at},`)}`), 200],
  ['a Forwarded of many', '', lines(`Forwarded: ${'for="[::1]";by=x,'.repeat(800)}`), 200],
  ['an X-Forwarded-For of many', '', lines(`X-Forwarded-For: ${'10.0.0.1, '.repeat(1_400)}`), 200],
  ['a traceparent of dashes', '', lines(`traceparent: ${'00-'.repeat(4_500)}`), 200],
  ['a Range of 1,000', '', lines(`Range: bytes=${many(1_000, (at) => `${at}-,`)}`), 200],
  ['an If-None-Match of many', '', lines(`If-None-Match: ${'"x", '.repeat(2_500)}`), 200],
];
const DOCUMENTS = [
  '/openapi.json',
  '/auth.md',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
];

export const exhaustion: Family<SchoolStand> = {
  name: 'resource exhaustion',
  attempts: () => {
    // 16 MiB of zeros in 16 KiB.
    const bomb = gzipSync(Buffer.alloc(16 * MIB)).toString('latin1');
    const deep = [
      ['lists', `${'['.repeat(7_000)}${']'.repeat(7_000)}`],
      ['lists that never end', '['.repeat(15_000)],
      ['objects', `${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`],
      ['a key given 1,000 times', `{${many(1_000, () => '"a":1,')}"b":1}`],
      ['a number of 10,000 digits', `{"a":${'9'.repeat(10_000)}}`],
    ] as const;
    return [
      ...product(READERS, ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'x-gzip', 'compress']).map(
        ([{ path, fields }, coding]): Attempt => ({
          name: `a bomb in ${coding}, ${path}`,
          bytes: request('POST', path, fields + lines(`Content-Encoding: ${coding}`), bomb),
          expected: { statuses: [path === '/api/oauth/register' ? [413, 415] : 415] },
        }),
      ),
      ...READERS.flatMap(({ path, fields, limit }): Attempt[] => [
        {
          name: `a body that says it is too long, ${path}`,
          bytes: `${request('POST', path, fields).slice(0, -2)}Content-Length: ${limit + 1}\r\n\r\n`,
          expected: refused(413),
        },
        {
          name: `a body of 100 GB, ${path}`,
          bytes: `${request('POST', path, fields).slice(0, -2)}Content-Length: 100000000000\r\n\r\nx`,
          expected: refused(413),
        },
        {
          name: `a body in chunks that is too long, ${path}`,
          bytes: `${request('POST', path, fields).slice(0, -2)}Transfer-Encoding: chunked\r\n\r\n${chunks('x'.repeat(limit + 10_000))}`,
          expected: { ...refused(413), mayReset: true },
        },
      ]),
      ...product(
        READERS.filter(({ fields }) => fields !== FORM_TYPE),
        deep,
      ).map(
        ([{ path, fields }, [what, body]]): Attempt => ({
          name: `${what}, ${path}`,
          bytes: request('POST', path, fields, body),
          expected: refused(400),
        }),
      ),
      ...product(DOCUMENTS, SLOW_TO_READ).map(
        ([path, [what, query, fields, status]]): Attempt => ({
          name: `${what}, ${path}`,
          bytes: request('GET', `${path}${query}`, fields),
          expected: { statuses: [status] },
        }),
      ),
    ];
  },
  // The same process still responds, and its memory has not grown, apart from V8's own.
  async after({ origin }) {
    const { status } = await fetch(`${origin}/openapi.json`);
    return status === 200 ? [] : [`/openapi.json is answered ${status}`];
  },
};

function chunks(body: string): string {
  return `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}
