import { type Attempt, JSON_TYPE, product, request } from '../support/attempt.ts';
import type { ProxyStand } from '../support/proxy-stand.ts';
import type { Family } from '../support/stand.ts';

/** Repeated text on which patterns for Markdown and HTML have been slow. */
const PIECES = [
  ...[
    '![',
    '[',
    '![![](',
    '](',
    '!',
    '\\[',
    '\\',
    '<',
    '<img ',
    '<!--',
    '<!-- -->',
    '-->',
    '&lt;',
    '`',
    '*',
    '_ ',
    '> ',
  ],
  ...[
    '[a](b',
    '![a]( ',
    'a@b.',
    'http://',
    '\n',
    '\t',
    '|-',
    '<a href="',
    '![a][b]\n[b]: ',
    '\u200b',
    '\ufe0f',
    'e\u0301',
  ],
];
/** In one string, and in as many strings as a result can have of the longest length that is not shortened. */
const SHAPES: readonly (readonly [string, (piece: string) => unknown])[] = [
  ['one text of 640 kB', (piece) => ({ text: filled(piece, 640_000) })],
  ['one text of 1.84 MB', (piece) => ({ text: filled(piece, 1_840_000) })],
  ['28 texts of 64 kB', (piece) => Array.from({ length: 28 }, () => filled(piece, 64_000))],
];

const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'any', arguments: {} } });
const filled = (piece: string, size: number) => piece.repeat(Math.ceil(size / piece.length));
const numbered = (count: number, piece: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => piece(at)).join();

const OBJECTS: readonly (readonly [string, string])[] = [
  ['120,000 keys', `{${numbered(120_000, (at) => `"k${at}":1`)}}`],
  ['120,000 items', `[${numbered(120_000, () => '1')}]`],
  ['40,000 objects', `{"things":[${numbered(40_000, (at) => `{"id":${at}}`)}]}`],
  ['20,000 texts of brackets', `[${numbered(20_000, () => `"${'!['.repeat(20)}"`)}]`],
  ['5,000 levels of lists', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ['5,000 levels of objects', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
  ['a key of a megabyte', `{"${'!['.repeat(500_000)}":1}`],
];

/** The processor time allowed per message, in milliseconds of a usual machine: far less than the seconds it once took. */
const MAX_CPU_MS = 500;

/** Text that any client can make the gate process: the result of a public tool, and the message that calls it. */
export const blockingText: Family<ProxyStand> = {
  name: 'text that is slow to match',
  attempts: ({ upstream }) => {
    // Each body is made when its turn comes: all of them at once would keep the upstreams of other gates from responding.
    const answered = (name: string, type: string, body: () => string): Attempt => ({
      name,
      before: () => {
        const bytes = Buffer.from(body());
        upstream.script((_request, socket) => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
          socket.write(bytes);
        });
      },
      bytes: request('POST', '/mcp', JSON_TYPE, call),
      expected: { statuses: [200], upstream: ['GET /public/any'], has: /"result":/, maxCpuMs: MAX_CPU_MS },
    });
    const asked = (name: string, body: string): Attempt => ({
      name,
      bytes: request('POST', '/mcp', JSON_TYPE, body),
      expected: { statuses: [[200, 400, 413]], maxCpuMs: MAX_CPU_MS, mayReset: true },
    });
    const args = (value: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nothing","arguments":${value}}}`;
    return [
      ...product(PIECES, SHAPES).map(([piece, [shape, made]]) =>
        answered(`${JSON.stringify(piece)} in ${shape}`, 'application/json', () => JSON.stringify(made(piece))),
      ),
      ...OBJECTS.map(([what, body]) => answered(`a result of ${what}`, 'application/json', () => body)),
      ...OBJECTS.map(([what, body]) => asked(`arguments of ${what}`, args(body.slice(0, 900_000)))),
      asked(
        'a message of 80,000 members',
        `{"jsonrpc":"2.0","id":1,"method":"tools/list",${numbered(80_000, (at) => `"k${at}":1`)}}`,
      ),
    ];
  },
  async after({ answerWithRecords }) {
    answerWithRecords();
    return [];
  },
};
