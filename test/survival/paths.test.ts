import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseTarget } from '../../src/upstream/target.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';

/** The raw target of each request that arrived, by the number in its query. It is not parsed, so nothing is changed. */
const arrived = new Map<number, string>();
const sockets = new Set<Socket>();
let upstream: Server;
let gate: ProxyWorld;

beforeAll(async () => {
  upstream = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      for (let end = rest.indexOf('\r\n\r\n'); end !== -1; end = rest.indexOf('\r\n\r\n')) {
        const target = rest.slice(rest.indexOf(' ') + 1, rest.indexOf(' HTTP/1.1\r\n'));
        arrived.set(Number(/[?&]n=(\d+)$/.exec(target)?.[1] ?? -1), target);
        rest = rest.slice(end + 4);
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      }
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  gate = await startProxyWorld({
    upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    config: { log: { level: 'silent', access: false } },
  });
});
afterAll(async () => {
  await gate.close();
  for (const socket of sockets) socket.destroy();
  upstream.close();
});

/** Sends targets on one connection, 64 at a time. Returns the statuses in order. */
async function sendOn(targets: readonly string[], first: number): Promise<number[]> {
  const socket = connect(gate.port, '127.0.0.1');
  socket.on('error', () => undefined);
  const statuses: number[] = [];
  for (let at = 0; at < targets.length; at += 64) {
    const batch = targets.slice(at, at + 64);
    const answered = new Promise<string>((resolve, reject) => {
      let text = '';
      socket.removeAllListeners('data').removeAllListeners('close');
      socket.on('close', () => reject(new Error(`closed after ${text.slice(-300)}`)));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if ((text.match(/HTTP\/1\.1 \d\d\d /g)?.length ?? 0) === batch.length) resolve(text);
      });
    });
    socket.write(
      batch
        .map((target, index) => `GET ${numbered(target, first + at + index)} HTTP/1.1\r\nHost: ${gate.host}\r\n\r\n`)
        .join(''),
      'latin1',
    );
    for (const [, status] of (await answered).matchAll(/HTTP\/1\.1 (\d\d\d) /g)) statuses.push(Number(status));
  }
  socket.removeAllListeners('close').destroy();
  return statuses;
}

const numbered = (target: string, number: number) => `${target}${target.includes('?') ? '&' : '?'}n=${number}`;

/** Fragments of path tricks, around public, protected and unused paths. */
const PIECES = [
  ...[
    '/',
    '/',
    '/',
    '.',
    '..',
    '%2e',
    '%2E%2e',
    '%2f',
    '%5c',
    '\\',
    ';',
    '%3b',
    '%25',
    '25',
    '2e',
    '%',
    '%00',
    '%0a',
    '#',
    '?',
    '%20',
  ],
  ...[
    'public',
    'public',
    'member',
    'MEMBER',
    '%6dember',
    'm%65mber',
    'reading',
    'site',
    'a',
    'A',
    '%61',
    '%c3%a9',
    '%c0%ae',
    '~',
    '%7e',
    '|',
  ],
  ...['%EF%BC%8F', '%EF%BD%8D', '%C5%BF', '*', ':', '@', '=', '+', "'", '{', '<', '^', '"'],
];
const target = fc
  .tuple(
    fc.constantFrom('/public/', '/public', '/site/', '/', '/member/', '/public/../', '/public/x/..'),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 7 }),
  )
  .map(([start, pieces]) => start + pieces.join(''));

describe('the path that was authorized', () => {
  it('is the path that the upstream receives, byte for byte, for 100,000 random tricky paths', async () => {
    const seed = Date.now() & 0x7fffffff;
    const targets = fc.sample(target, { numRuns: 100_000, seed });
    const share = targets.length / 8;
    const statuses = (
      await Promise.all(
        Array.from({ length: 8 }, (_, n) => sendOn(targets.slice(n * share, (n + 1) * share), n * share)),
      )
    ).flat();

    const wrong: string[] = [];
    for (const [number, sent] of targets.entries()) {
      const judged = parseTarget(numbered(sent, number), gate.origin);
      const received = arrived.get(number);
      const status = statuses[number];
      const right =
        received === undefined
          ? // Refused, for want of a token, in another spelling, or as our own.
            status === (judged === undefined ? 400 : status === 401 || status === 404 || status === 405 ? status : 0) ||
            (status === 400 && judged !== undefined && splitsOnceDecoded(judged.query))
          : judged !== undefined && received === judged.path + judged.query && status === 200 && open(judged.path);
      if (!right) wrong.push(`${sent} → ${received} (${status})`);
    }
    expect(wrong.slice(0, 20), `seed ${seed}`).toEqual([]);
    expect(arrived.size, 'that come through').toBeGreaterThan(10_000);
    expect(statuses.filter((status) => status === 400).length, 'that are refused').toBeGreaterThan(10_000);
    expect(statuses.filter((status) => status === 401).length, 'that need a token').toBeGreaterThan(500);
    expect(statuses.filter((status) => status === 404).length, 'that are spelled like those').toBeGreaterThan(10);
  });
});

/** Whether the name of a parameter would split once it is decoded. A bare ; separates parameters as & does. */
function splitsOnceDecoded(query: string): boolean {
  return query.split(/[&;]/).some((parameter) => /%3b/i.test(parameter.split('=', 1)[0] ?? ''));
}

/** Decodes more than any upstream would: without a token, no protected path may be reached. */
function open(path: string): boolean {
  const lax = decodeURIComponent(path).normalize('NFKC').toLowerCase().replace(/\/+$/, '');
  return !/^\/(member|reading)(\/|$)/.test(lax) && !/(^|\/)\.{1,2}(\/|$)|\/\/|[\\;\0]/.test(lax);
}
