import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawUpstream, startRawUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

const LANES = [
  ['protected', '/api/x'],
  ['site', '/x'],
] as const;

/** How the raw upstream handles the next requests. */
let behave: (socket: Socket) => void = () => {};
let upstream: RawUpstream;
let gate: TestGate;

beforeAll(async () => {
  upstream = await startRawUpstream((socket) => behave(socket));
  gate = await startGate(upstream.url, { timeout: 0.5 });
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

const get = (path: string, version = '1.1') =>
  gate.raw(`GET ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`);

async function alive(path: string): Promise<void> {
  behave = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  expect(await get(path)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
}

/** The time limits of the gate are short, so that no test waits for long: a machine that stalls for one spoils an attempt. */
const AGAIN = { retry: 2 };

describe.each(LANES)('%s lane', AGAIN, (_lane, path) => {
  it('an upstream that is down leads to a 502 that names nothing internal', async () => {
    const gone = await startRecordingUpstream();
    const own = await startGate(gone.url);
    await gone.close();
    const answer = await own.raw(`GET ${path}?secret HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 502 /);
    expect(answer).not.toMatch(/127\.0\.0\.1|secret|evil|ECONNREFUSED/);
    expect(own.failures.map((failure) => failure.code)).toEqual(['upstream_unreachable']);
    await own.close();
  });

  it('an upstream that does not respond in time leads to a 504', async () => {
    let closed: Promise<unknown> | undefined;
    behave = (socket) => {
      closed = once(socket, 'close');
    };
    expect(await get(path)).toMatch(/^HTTP\/1\.1 504 /);
    await closed;
    await alive(path);
  });

  it('a response that stalls in its body is aborted in time', async () => {
    behave = (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello');
    expect(await get(path)).toMatch(/\r\n\r\nhello$/);
    await alive(path);
  });

  it('an event stream may be silent for longer', async () => {
    behave = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\ndata: 1\n\n');
      setTimeout(() => socket.end('data: 2\n\n'), 1_200);
    };
    expect(await get(path)).toContain('data: 2\n\n');
  });

  it.each([
    ['a reset in a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 'reset'],
    ['an end in a chunked body', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', 'end'],
    ['a reset in a counted body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello', 'reset'],
    ['an end in a counted body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello', 'end'],
    ['a reset in a body without a length', 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello', 'reset'],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n', 'keep'],
  ])('after %s, the client does not see a complete response', async (_what, bytes, then) => {
    behave = (socket) =>
      socket.write(bytes, () => {
        // After the bytes are sent, so that the gate has begun its response.
        setTimeout(() => (then === 'reset' ? socket.resetAndDestroy() : then === 'end' ? socket.end() : undefined), 50);
      });
    const [head = '', body = ''] = (await get(path)).split('\r\n\r\n');
    expect(body.endsWith('0')).toBe(false);
    expect(body.replace(/^5\r\n|\r\n$/g, '')).toMatch(/^(hello)?$/);
    if (body !== '') expect(head).toMatch(/^HTTP\/1\.1 200 /);

    const request = http.get(gate.url + path, { agent: false });
    const outcome = await new Promise((resolve) => {
      request.on('error', resolve);
      request.on('response', (answer: IncomingMessage) => {
        answer
          .on('error', resolve)
          .on('end', () => resolve('complete'))
          .resume();
      });
    });
    expect(outcome).toMatchObject({ code: 'ECONNRESET' });
    await alive(path);
  });

  it('an HTTP/1.0 client sees a truncated body end with a reset', async () => {
    behave = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
      setTimeout(() => socket.resetAndDestroy(), 50);
    };
    const client = gate.socket();
    client.write(`GET ${path} HTTP/1.0\r\nHost: a\r\n\r\n`);
    client.resume();
    const [error] = await once(client, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });

  // Each must become a cleaned response, our own 502 or 504, or a closed connection, and never end the process.
  const CL = 'Content-Length: 2\r\n';
  it.each([
    ['Trailer with a length', `HTTP/1.1 200 OK\r\nTrailer: x\r\n${CL}\r\nok`, /^HTTP\/1\.1 200 /],
    ['Trailer on a 204', 'HTTP/1.1 204 No Content\r\nTrailer: x\r\n\r\n', /^HTTP\/1\.1 204 /],
    ['a control character in the reason', `HTTP/1.1 200 O\x01K\r\n${CL}\r\nok`, /^HTTP\/1\.1 (200|502) /],
    ['Latin-1 in the reason', `HTTP/1.1 200 O\xffK\r\n${CL}\r\nok`, /^HTTP\/1\.1 (200|502) /],
    ['status 000', `HTTP/1.1 000 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 50[24] /],
    ['status 099', `HTTP/1.1 099 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 50[24] /],
    ['status 600', `HTTP/1.1 600 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    [
      'status 600 and an endless body',
      'HTTP/1.1 600 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
      /^HTTP\/1\.1 502 /,
    ],
    ['status 999', `HTTP/1.1 999 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['status 1000', `HTTP/1.1 1000 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['status 20', `HTTP/1.1 20 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    [
      '101 unasked',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhi',
      /^HTTP\/1\.1 502 /,
    ],
    [
      '102 and 103 first',
      `HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 E\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\n${CL}\r\nok`,
      /^HTTP\/1\.1 200 /,
    ],
    ['103 and nothing', 'HTTP/1.1 103 E\r\nLink: <x>\r\n\r\n', /^HTTP\/1\.1 504 /],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
      /^HTTP\/1\.1 502 /,
    ],
    ['two lengths', `HTTP/1.1 200 OK\r\n${CL}Content-Length: 3\r\n\r\nok`, /^HTTP\/1\.1 502 /],
    ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok', /^HTTP\/1\.1 502 /],
    ['a length in hex', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok', /^HTTP\/1\.1 502 /],
    [
      'more than its length',
      `HTTP/1.1 200 OK\r\n${CL}\r\nok and more`,
      /^(HTTP\/1\.1 200 [\s\S]*\r\n\r\nok|HTTP\/1\.1 502 [\s\S]*|)$/,
    ],
    ['a body with a 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok', /^HTTP\/1\.1 (204|502) /],
    ['a body with a 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok', /^HTTP\/1\.1 (304|502) /],
    ['a bad first chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', /^(?![\s\S]*\r\n0\r\n\r\n)/],
    [
      'a huge chunk size',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n',
      /^(?![\s\S]*\r\n0\r\n\r\n)/,
    ],
    [
      'an unknown coding',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nConnection: close\r\n\r\nok',
      /^(HTTP\/1\.1 (200|502) |$)/,
    ],
    ['20 kB of header', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['lines that end with LF', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok', /^HTTP\/1\.1 (200|502|504) /],
    ['NUL in a value', `HTTP/1.1 200 OK\r\nX: a\0b\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['a control character in a value', `HTTP/1.1 200 OK\r\nX: a\x01b\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['a space in a name', `HTTP/1.1 200 OK\r\nX Y: a\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['an empty name', `HTTP/1.1 200 OK\r\n: a\r\n${CL}\r\nok`, /^HTTP\/1\.1 502 /],
    ['a folded line', `HTTP/1.1 200 OK\r\nX: a\r\n b\r\n${CL}\r\nok`, /^HTTP\/1\.1 (200|502) /],
    [
      'names of prototypes',
      `HTTP/1.1 200 OK\r\n__proto__: a\r\nconstructor: b\r\nhasOwnProperty: c\r\n${CL}\r\nok`,
      /^HTTP\/1\.1 200 /,
    ],
    ['an invalid Location', `HTTP/1.1 302 Found\r\nLocation: http://[\r\n${CL}\r\nok`, /^HTTP\/1\.1 302 /],
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01', /^HTTP\/1\.1 502 /],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /^HTTP\/1\.1 502 /],
    ['HTTP/2.0', `HTTP/2.0 200 OK\r\n${CL}\r\nok`, /^HTTP\/1\.1 (200|502) /],
    ['half of the header', 'HTTP/1.1 200 OK\r\nContent-Le', /^HTTP\/1\.1 504 /],
    [
      'two responses',
      `HTTP/1.1 200 OK\r\n${CL}\r\nokHTTP/1.1 200 OK\r\n${CL}\r\nno`,
      /^(HTTP\/1\.1 200 [\s\S]*\r\n\r\nok|HTTP\/1\.1 502 [\s\S]*|)$/,
    ],
    ['no length, then the end', 'HTTP/1.0 200 OK\r\n\r\nok', /^(HTTP\/1\.1 200 [\s\S]*|)$/],
  ])('the gate survives %s', async (_what, bytes, expected) => {
    behave = (socket) => socket.write(bytes, 'latin1');
    expect(await get(path)).toMatch(expected);
    await alive(path);
  });

  it.each([
    ['no byte and the end', (socket: Socket) => void socket.end()],
    ['no byte and a reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['half a head and the end', (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Le')],
  ])('the gate responds with 502 after %s', async (_what, ending) => {
    behave = ending;
    expect(await get(path)).toMatch(/^HTTP\/1\.1 502 /);
    await alive(path);
  });

  it('a client that resets at any moment leaves no upstream connection open', async () => {
    for (const moment of ['at once', 'waiting', 'in the body'] as const) {
      const upstreamClosed: Promise<unknown>[] = [];
      let arrived = () => {};
      const there = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      behave = (socket) => {
        upstreamClosed.push(once(socket, 'close'));
        if (moment === 'in the body')
          socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
        arrived();
      };
      const client = gate.socket();
      client.on('error', () => undefined);
      client.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      if (moment === 'waiting') await there;
      if (moment === 'in the body') await once(client, 'data');
      client.resetAndDestroy();
      if (moment !== 'at once') await Promise.all(upstreamClosed);
    }
    await alive(path);
  });

  it.each([
    ['TRACE', '', 405],
    ['POST', 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n', 400],
  ])('the gate refuses %s %s', async (method, header, status) => {
    const before = upstream.received.length;
    const answer = await gate.raw(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${header}\r\n`);
    expect(answer.slice(9, 12)).toBe(String(status));
    expect(upstream.received.length).toBe(before);
  });

  it('the gate refuses a transfer coding in HTTP/1.0', async () => {
    const before = upstream.received.length;
    const answer = await gate.raw(`POST ${path} HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
    expect(answer.slice(9, 12)).toBe('400');
    expect(upstream.received.length).toBe(before);
  });
});
