import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  answerOk,
  type RawUpstream,
  type RecordingUpstream,
  startRawUpstream,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

const LANES = [
  ['protected', '/api/x'],
  ['site', '/x'],
] as const;

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </early.css>; rel=preload\r\n\r\n';

let behave: (socket: Socket) => void = () => undefined;
let raw: RawUpstream;
let gate: TestGate;
beforeAll(async () => {
  raw = await startRawUpstream((socket) => behave(socket));
  gate = await startGate(raw.url, { timeout: 0.5, upstream: { breaker: { failures: 0, cooldown: 5 } } });
});
afterAll(async () => {
  await gate.close();
  await raw.close();
});

/** The time limits of the gate are short, so that no test waits for long: a machine that stalls for one spoils an attempt. */
const AGAIN = { retry: 2 };

describe.each(LANES)('%s lane', AGAIN, (_lane, path) => {
  const send = (method = 'GET') =>
    gate.raw(
      `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${method === 'POST' ? 'Content-Length: 2\r\n\r\nhi' : '\r\n'}`,
    );
  /** The responses to the next two requests: bytes left on a reused connection would be read as one of them. */
  const nextIsRight = async () => {
    behave = (socket) => void socket.write(OK);
    for (let n = 0; n < 2; n += 1) expect(await send()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
  };

  it.each([
    ['103', HINTS],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['two, one of them unknown', `${HINTS}HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 199 X\r\n\r\n`],
    ['fifty in a row', HINTS.repeat(50)],
  ])('ignores %s, and forwards the final response', async (_what, before) => {
    behave = (socket) => void socket.write(before + OK);
    for (const method of ['GET', 'POST']) {
      const answer = await send(method);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
      expect(answer).not.toMatch(/early\.css|HTTP\/1\.1 1/);
    }
    await nextIsRight();
  });

  it('treats an unexpected 100 as an invalid response', async () => {
    behave = (socket) => void socket.write(`HTTP/1.1 100 Continue\r\n\r\n${OK}`);
    expect(await send('POST')).toMatch(/^HTTP\/1\.1 502 /);
    await nextIsRight();
  });

  it('does not extend its timeout for interim responses or a slow head', async () => {
    const trickles: NodeJS.Timeout[] = [];
    for (const piece of [HINTS, undefined]) {
      behave = (socket) => {
        if (piece === undefined) socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
        trickles.push(setInterval(() => socket.writable && socket.write(piece ?? 'a'), 50));
        socket.once('close', () => clearInterval(trickles.at(-1)));
      };
      expect(await send()).toMatch(/^HTTP\/1\.1 504 /);
      for (const trickle of trickles) clearInterval(trickle);
    }
    await nextIsRight();
  });

  it('drops the trailers of a response', async () => {
    behave = (socket) =>
      void socket.write(
        'HTTP/1.1 200 OK\r\nTrailer: Set-Cookie, X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nSet-Cookie: a=b\r\nX-Sum: 1\r\n\r\n',
      );
    const answer = await send();
    expect(answer).toMatch(/\r\n\r\n2\r\nok\r\n0\r\n\r\n$/);
    expect(answer).not.toMatch(/trailer|set-cookie|x-sum/i);
    await nextIsRight();
  });

  const HEADLESS = 'ETag: "1"\r\n';
  it.each([
    [
      'HEAD',
      'a body',
      `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`,
      /^HTTP\/1\.1 (200 OK\r\n[\s\S]*content-length: 5\r\n[\s\S]*\r\n\r\n|502 [\s\S]*)$/i,
    ],
    [
      'HEAD',
      'chunks',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 (200 OK|502 [^\r]*)\r\n(?!.*\r\n\r\nok)/i,
    ],
    [
      'HEAD',
      'no body, and a length',
      `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n`,
      /^HTTP\/1\.1 200 OK\r\n[\s\S]*content-length: 5\r\n[\s\S]*\r\n\r\n$/i,
    ],
    [
      'GET',
      'a length',
      `HTTP/1.1 204 No Content\r\n${HEADLESS}Content-Length: 5\r\n\r\n`,
      /^HTTP\/1\.1 (204 (?![\s\S]*content-length)[\s\S]*|502 [\s\S]*)$/i,
    ],
    [
      'GET',
      'a body',
      `HTTP/1.1 204 No Content\r\n${HEADLESS}Content-Length: 5\r\n\r\nhello`,
      /^HTTP\/1\.1 (204 (?![\s\S]*content-length)[\s\S]*\r\n\r\n|502 [\s\S]*)$/i,
    ],
    [
      'GET',
      'chunks',
      `HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 (204 (?![\s\S]*transfer-encoding)[\s\S]*\r\n\r\n|502 [\s\S]*)$/i,
    ],
    [
      'GET',
      'a body',
      `HTTP/1.1 304 Not Modified\r\n${HEADLESS}Content-Length: 5\r\n\r\nhello`,
      /^HTTP\/1\.1 (304 [\s\S]*\r\n\r\n|502 [\s\S]*)$/i,
    ],
    [
      'GET',
      'no body, and a length',
      `HTTP/1.1 304 Not Modified\r\n${HEADLESS}Content-Length: 5\r\n\r\n`,
      /^HTTP\/1\.1 304 [\s\S]*etag: "1"[\s\S]*\r\n\r\n$/i,
    ],
    [
      'GET',
      'a body',
      `HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\n\r\nhello`,
      /^HTTP\/1\.1 205 [\s\S]*content-length: (5\r\n[\s\S]*\r\n\r\nhello|0\r\n[\s\S]*\r\n\r\n)$/i,
    ],
    [
      'GET',
      'less than its length, and the end',
      `HTTP/1.1 205 Reset Content\r\nContent-Length: 5\r\nConnection: close\r\n\r\n`,
      /^HTTP\/1\.1 (205 |504 |502 )/,
    ],
  ])('responds to %s with correct framing when the upstream sends %s (%#)', async (method, _what, bytes, expected) => {
    behave = (socket) => void socket.write(bytes);
    const answer = await send(method);
    expect(answer).toMatch(expected);
    // One response, and nothing after its end.
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    if (method === 'HEAD') expect(answer.endsWith('\r\n\r\n')).toBe(true);
    await nextIsRight();
  });
});

describe.each(LANES)('with a real upstream, %s lane', AGAIN, (_lane, path) => {
  let upstream: RecordingUpstream;
  let own: TestGate;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    own = await startGate(upstream.url);
  });
  afterEach(() => upstream.script(answerOk));
  afterAll(async () => {
    await own.close();
    await upstream.close();
  });

  it('forwards ranges as they are, even a thousand and overlapping ones', async () => {
    const many = `bytes=${Array.from({ length: 1_000 }, (_, n) => `${n}-${n}`).join(',')}`;
    upstream.script((_request, response) => void response.writeHead(416, { 'content-range': 'bytes */10' }).end('no'));
    for (const range of [many, 'bytes=0-,0-,0-,5-9,0-9', 'bytes=-5', 'bytes=9-1', 'lines=1-2']) {
      const asked = upstream.requests.length;
      const answer = await fetch(own.url + path, { headers: { range, 'if-range': '"v1"' } });
      expect([answer.status, answer.headers.get('content-range'), await answer.text()]).toEqual([
        416,
        'bytes */10',
        'no',
      ]);
      expect([upstream.last().values('range'), upstream.last().values('if-range')]).toEqual([[range], ['"v1"']]);
      expect(upstream.requests).toHaveLength(asked + 1);
    }
  });

  it('forwards a 206 byte for byte, with one part or several', async () => {
    const parts =
      '--SEP\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\nab\r\n--SEP\r\nContent-Range: bytes 0-1/10\r\n\r\nab\r\n--SEP--\r\n';
    for (const [headers, body] of [
      [{ 'content-type': 'multipart/byteranges; boundary=SEP', etag: '"v1"' }, parts],
      [{ 'content-range': 'bytes 2-3/10', 'accept-ranges': 'bytes', 'content-length': '2', etag: '"v1"' }, 'cd'],
    ] as const) {
      upstream.script((_request, response) => void response.writeHead(206, headers).end(body));
      const answer = await fetch(own.url + path, { headers: { range: 'bytes=0-1,0-1' } });
      expect([answer.status, await answer.text()]).toEqual([206, body]);
      for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name)).toBe(value);
    }
  });

  it('forwards each event before the next one is written, and adds nothing', async () => {
    let write = (_event: string): void => undefined;
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' });
      response.flushHeaders();
      write = (event) => void response.write(event);
    });
    const request = http.get(own.url + path, { agent: false, headers: { 'accept-encoding': 'gzip, br' } });
    request.on('error', () => undefined);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect([answer.headers['content-encoding'], answer.headers['x-accel-buffering']]).toEqual([undefined, 'no']);
    let received = '';
    let sent = '';
    answer
      .on('error', () => undefined)
      .on('data', (chunk) => {
        received += chunk;
      });
    // Each event is written only after the previous one has arrived, so any buffering would stop all of them.
    for (const event of [
      ': hello\n\n',
      'data: 1\n\n',
      'd',
      'ata: 2\n',
      '\n',
      ':\n\n',
      `data: ${'x'.repeat(100_000)}\n\n`,
      'id: 3\n\n',
    ]) {
      sent += event;
      write(event);
      await expect.poll(() => received.length, { interval: 1 }).toBe(sent.length);
    }
    expect(received).toBe(sent);
    let closed = false;
    void upstream.last().closed.then(() => {
      closed = true;
    });
    request.destroy();
    await expect.poll(() => closed, { interval: 5 }).toBe(true);
  });

  it('forwards error statuses as they are, except a 401 on the protected lane', async () => {
    for (const status of [401, 403, 404, 409, 429, 500, 502, 503, 504]) {
      upstream.script((_request, response) => {
        response.writeHead(status, { 'retry-after': '17', 'content-type': 'application/json', etag: '"e"' });
        response.end(`{"told":${status}}`);
      });
      const answer = await fetch(own.url + path);
      const shown = status === 401 && path === '/api/x' ? 403 : status;
      expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([
        shown,
        '17',
        `{"told":${status}}`,
      ]);
      expect(answer.headers.get('www-authenticate')).toBeNull();
      expect(answer.headers.get('etag')).toBe('"e"');
    }
    expect(own.failures).toEqual([]);
  });

  it('aborts the streams of an upstream that goes away, and reconnects when it is back', async () => {
    const first = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const restarting = await startGate(first.url);
    const open = async () => {
      const [answer] = (await once(http.get(restarting.url + path, { agent: false }), 'response')) as [IncomingMessage];
      await once(answer, 'data');
      return answer;
    };
    const streams = await Promise.all([open(), open(), open()]);
    expect(restarting.upstream.admission.state().streams).toBe(3);
    const ends = streams.map((answer) => once(answer.resume(), 'error'));
    const { port } = new URL(first.url);
    await first.close();
    for (const [error] of await Promise.all(ends)) expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(restarting.upstream.admission.state()).toMatchObject({ requests: 0, streams: 0 });
    expect(restarting.upstream.connections.size).toBe(0);

    const second = http
      .createServer((_request, response) => void response.end('back'))
      .listen(Number(port), '127.0.0.1');
    await once(second, 'listening');
    expect(await (await fetch(restarting.url + path)).text()).toBe('back');
    await restarting.close();
    second.closeAllConnections();
    second.close();
  });

  it('serves five hundred requests while one client does not read', async () => {
    const piece = Buffer.alloc(64 * 1024);
    upstream.script((request, response) => {
      if (!request.url?.endsWith('slow')) return void response.end(piece);
      const fill = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', fill);
      fill();
    });
    const slow = http.get(`${own.url}${path}/slow`, { agent: false });
    slow.on('error', () => undefined);
    const [held] = (await once(slow, 'response')) as [IncomingMessage];
    held.on('error', () => undefined).pause();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 50 });
    const one = async () => {
      const [answer] = (await once(http.get(own.url + path, { agent }), 'response')) as [IncomingMessage];
      return (await text(answer)).length;
    };
    const sizes = await Promise.all(Array.from({ length: 500 }, one));
    expect(new Set(sizes)).toEqual(new Set([piece.length]));
    expect(held.destroyed).toBe(false);
    agent.destroy();
    slow.destroy();
    await upstream.requests.find(({ target }) => target.endsWith('slow'))?.closed;
  });
});

describe.each(LANES)('a slow body, %s lane', AGAIN, (_lane, path) => {
  it('is forwarded as it arrives, and frees its place when the client leaves', async () => {
    let next = (): void => undefined;
    behave = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
      next = () => void socket.write('x');
    };
    const request = http.get(gate.url + path, { agent: false });
    request.on('error', () => undefined);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    let received = 0;
    answer
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
    for (let n = 1; n <= 10; n += 1) {
      next();
      await expect.poll(() => received, { interval: 1 }).toBe(n);
    }
    expect(gate.upstream.admission.state().requests).toBe(1);
    request.destroy();
    await expect.poll(() => gate.upstream.admission.state().requests).toBe(0);
    await expect.poll(() => gate.upstream.connections.size).toBeLessThanOrEqual(1);
  });
});
