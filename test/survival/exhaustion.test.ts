import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leastCost } from '../support/pace.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { rawExchange } from '../support/raw-socket.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const MIB = 1024 * 1024;
let upstream: RecordingUpstream;
let gate: ProxyWorld;
let world: World;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startProxyWorld({ upstream: upstream.url, process: {} });
  world = await startWorld({ profile: 'A' });
});
afterAll(async () => {
  await world.close();
  await gate.close();
  await upstream.close();
});

const statusOf = (answer: string) => Number(answer.slice(9, 12));
/** Milliseconds of processor time that the gate has used, in steps of 10. */
const cpu = () => {
  const fields = readFileSync(`/proc/${gate.process?.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
const memory = () => Number(readFileSync(`/proc/${gate.process?.pid}/statm`, 'utf8').split(' ')[1]) * 4096;

describe('B137: a request made to be slow to parse', () => {
  const many = (count: number, piece: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => piece(n)).join('');
  it.each([
    ['2,000 query keys', `LANE/x?${many(2_000, (n) => `${n % 10}&`)}`, '', 200],
    ['10,000 query keys', `LANE/x?${many(10_000, (n) => `${n}=&`)}`, '', 431],
    ['4,000 segments', `LANE${'/a'.repeat(4_000)}`, '', 200],
    ['2,500 escapes', `LANE/${'%41'.repeat(2_500)}`, '', 200],
    ['900 composed characters', `LANE/${'%EF%AC%83'.repeat(800)}`, '', 200],
    ['characters to be composed', `LANE/a${'%CC%81%CC%A3'.repeat(600)}`, '', 200],
    ['a flood of cookies', 'LANE/x', `Cookie: ${many(1_500, (n) => `c${n}=x; `)}\r\n`, 200],
    ['a flood of Cookie fields', 'LANE/x', many(700, (n) => `Cookie: c${n}=x\r\n`), 200],
    ['an Accept of many parts', 'LANE/x', `Accept: ${'text/htm;q=0.1,'.repeat(1_000)}\r\n`, 200],
    ['an Accept of spaces', 'LANE/x', `Accept: text/${' '.repeat(14_000)}x\r\n`, 200],
    ['a Connection of many names', 'LANE/x', `Connection: ${many(2_500, (n) => `x${n},`)}\r\n`, 200],
    ['many Connection fields', 'LANE/x', many(700, (n) => `Connection: x${n}\r\n`), 200],
    ['a Connection of commas', 'LANE/x', `Connection: ${', '.repeat(7_000)}\r\n`, 200],
    ['a Forwarded of many', 'LANE/x', `Forwarded: ${'for="[::1]";by=x,'.repeat(900)}\r\n`, 200],
    ['an X-Forwarded-For of many', 'LANE/x', `X-Forwarded-For: ${'10.0.0.1, '.repeat(1_500)}\r\n`, 200],
    ['a traceparent of dashes', 'LANE/x', `traceparent: ${'00-'.repeat(5_000)}\r\n`, 200],
    ['a tracestate of many', 'LANE/x', `tracestate: ${'a=b,'.repeat(3_500)}\r\n`, 200],
    ['an Authorization of spaces', 'LANE/x', `Authorization: Bearer${' '.repeat(14_000)}x\r\n`, 401],
    ['900 fields', 'LANE/x', many(900, (n) => `x-${n}: a\r\n`), 200],
    ['a Range of 1,000', 'LANE/x', `Range: bytes=${many(1_000, (n) => `${n}-,`)}\r\n`, 200],
  ])('with %s costs the gate less than 50 ms', async (_what, target, fields, status) => {
    for (const lane of ['/public', '/pages']) {
      const bytes = `GET ${target.replace('LANE', lane)} HTTP/1.1\r\nHost: ${gate.host}\r\n${fields}Connection: close\r\n\r\n`;
      const expected = lane === '/pages' && status === 401 ? 200 : status;
      const tenTimes = async () => {
        for (let n = 0; n < 10; n += 1) expect(statusOf(await gate.raw(bytes))).toBe(expected);
      };
      expect(await leastCost(500, tenTimes, cpu)).toBeLessThan(500);
    }
  });
});

it('B136: repeated bursts of 200 requests with 16 KiB of header fields do not fill memory', async () => {
  const bytes = (lane: string) =>
    `GET ${lane}/x HTTP/1.1\r\nHost: ${gate.host}\r\nX-A: ${'a'.repeat(15_000)}\r\nConnection: close\r\n\r\n`;
  const round = async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => gate.raw(bytes(n % 2 === 0 ? '/public' : '/pages'))),
    );
    expect(answers.filter((answer) => statusOf(answer) !== 200)).toEqual([]);
  };
  for (let n = 0; n < 3; n += 1) await round();
  const before = memory();
  for (let n = 0; n < 12; n += 1) await round();
  expect(memory() - before).toBeLessThan(200 * MIB);
});

const DOORS = [
  ['/api/oauth/register', 'application/json'],
  ['/account/graphql', 'application/json'],
  ['/mcp', 'application/json'],
  ['/api/oauth/token', 'application/x-www-form-urlencoded'],
  ['/api/oauth/introspect', 'application/x-www-form-urlencoded'],
  ['/api/oauth/revoke', 'application/x-www-form-urlencoded'],
] as const;

/** Sends a body to an endpoint of the demo's gate. Returns the status. */
async function post(path: string, type: string, body: Buffer, fields = ''): Promise<number> {
  const { host, port } = new URL(world.origin);
  const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\nAccept: application/json, text/event-stream\r\n${fields}Connection: close\r\n\r\n`;
  return statusOf(await rawExchange(Number(port), head + body.toString('latin1')));
}

describe('B135: a compressed body', () => {
  // 64 MiB of zeros in 64 KiB.
  const bomb = gzipSync(Buffer.alloc(64 * MIB));
  it.each(DOORS)('is never decompressed at %s', async (path, type) => {
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'x-gzip']) {
      const before = process.memoryUsage().rss;
      const status = await post(path, type, bomb, `Content-Encoding: ${coding}\r\n`);
      expect([coding, status]).toEqual([coding, expect.toSatisfy((one: number) => [401, 413, 415].includes(one))]);
      expect(process.memoryUsage().rss - before).toBeLessThan(48 * MIB);
    }
  });
});

describe('B138: JSON with 100,000 levels', () => {
  const deep = [
    ['arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['arrays that never end', '['.repeat(100_000)],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    [
      'arrays in what is expected',
      `{"redirect_uris":${'['.repeat(10_000)}${']'.repeat(10_000)},"query":"{me}","jsonrpc":"2.0"}`,
    ],
    [
      'objects in what is expected',
      `{"client_name":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)},"variables":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    ],
  ] as const;
  it.each(DOORS.flatMap(([path, type]) => deep.map(([what, json]) => [path, what, type, json] as const)))(
    'is refused at %s: %s',
    async (path, _what, type, json) => {
      const refuse = async () =>
        expect(await post(path, type, Buffer.from(json))).toSatisfy((one: number) => [400, 401, 413].includes(one));
      // This includes the test's own share.
      expect(await leastCost(250, refuse)).toBeLessThan(250);
    },
  );
});

describe('B103: names of prototype members', () => {
  const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'prototype', 'valueOf'];
  it('in header fields, query, cookies and path arrive as they were sent, or not at all', async () => {
    for (const lane of ['/public', '/pages']) {
      for (const name of names) {
        const answer = await gate.raw(
          `POST ${lane}/${name}?${name}=x&${name}[y]=z HTTP/1.1\r\nHost: ${gate.host}\r\n${name}: x\r\nCookie: ${name}=x\r\nConnection: close, ${name}\r\nContent-Length: 0\r\n\r\n`,
        );
        expect(statusOf(answer)).toBe(200);
        expect(upstream.last().target).toBe(`${lane}/${name}?${name}=x&${name}[y]=z`);
        expect(upstream.last().values(name)).toEqual([]);
      }
    }
  });

  it.each(DOORS)('at %s are refused, and do not affect the next request', async (path, type) => {
    for (const name of names) {
      const body =
        type === 'application/json'
          ? `{"${name}":{"redirect_uris":["https://evil.test/"],"isAdmin":true}}`
          : `${name}=x&${name}[a]=b`;
      const status = await post(`${path}?${name}=x`, type, Buffer.from(body), `${name}: x\r\n`);
      expect([name, status]).toEqual([name, expect.toSatisfy((one: number) => [400, 401].includes(one))]);
    }
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });
});
