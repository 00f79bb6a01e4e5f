import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  answerOk,
  type RecordingUpstream,
  startRawUpstream,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

const LANES = [
  ['protected', '/api/x'],
  ['site', '/x'],
] as const;

let upstream: RecordingUpstream;
let gate: TestGate;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url);
});
afterEach(() => upstream.script(answerOk));
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

/** Sends a request on its own connection and waits for the head of the response. */
async function ask(
  path: string,
  options: http.RequestOptions = {},
  body?: Buffer,
): Promise<[IncomingMessage, http.ClientRequest]> {
  const request = http.request(gate.url + path, { agent: false, ...options });
  request.on('error', () => undefined);
  request.end(body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  return [answer, request];
}

/** Writes to a stream until the reader stops reading, and ends it once the test has observed that. */
class Sender {
  sent = 0;
  #stalled = false;

  async fill(stream: Writable): Promise<void> {
    const chunk = Buffer.alloc(256 * 1024);
    while (!this.#stalled && this.sent < 512 * 1024 * 1024) {
      this.sent += chunk.length;
      if (!stream.write(chunk)) await once(stream, 'drain');
    }
    stream.end();
  }

  /** Resolves when writing has stalled. The kernel may buffer 36 MiB for each of the two connections, the gate only little. */
  async stalls(): Promise<void> {
    let before = -1;
    await vi.waitFor(
      () => {
        const same = this.sent === before;
        before = this.sent;
        expect(same && this.sent > 0).toBe(true);
      },
      { interval: 250, timeout: 15_000 },
    );
    this.#stalled = true;
    expect(this.sent).toBeLessThan(100 * 1024 * 1024);
  }
}

describe.each(LANES)('%s lane', (_lane, path) => {
  it('forwards an event before the stream ends, and a disconnect of the client to the upstream', async () => {
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const [answer, request] = await ask(path);
    const [event] = await once(answer, 'data');
    expect(String(event)).toBe('data: 1\n\n');
    request.destroy();
    await upstream.last().closed;
  });

  it('forwards the head before there is a body', async () => {
    let finish = () => {};
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.flushHeaders();
      finish = () => void response.end('late');
    });
    const [answer] = await ask(path);
    expect(answer.statusCode).toBe(200);
    finish();
    expect(await text(answer)).toBe('late');
  });

  it.each([
    ['of known length', { 'content-length': String(20 * 1024 * 1024) }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])('forwards 20 MiB %s in both directions unchanged', async (_kind, headers) => {
    const body = randomBytes(20 * 1024 * 1024);
    upstream.script(async (_request, response, recorded) => {
      await recorded.whole;
      response.writeHead(200, headers).end(recorded.body);
    });
    const [answer] = await ask(
      path,
      { method: 'POST', headers: { ...headers, 'content-type': 'application/octet-stream' } },
      body,
    );
    const received = createHash('sha256');
    for await (const chunk of answer) received.update(chunk as Buffer);
    expect(received.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
    const framing = 'content-length' in headers ? 'content-length' : 'transfer-encoding';
    expect(upstream.last().values(framing)).toEqual(['content-length' in headers ? '20971520' : 'chunked']);
    expect(answer.headers[framing]).toBeDefined();
  });

  it('slows the upstream down when the client does not read', async () => {
    const sender = new Sender();
    upstream.script((_request, response) => sender.fill(response));
    const [answer] = await ask(path);
    answer.pause();
    await sender.stalls();
    let received = 0;
    for await (const chunk of answer) received += (chunk as Buffer).length;
    expect(received).toBe(sender.sent);
  });

  it('slows the client down when the upstream does not read', async () => {
    let resume = () => {};
    upstream.script(async (request, response, recorded) => {
      request.pause();
      resume = () => void request.resume();
      await recorded.whole;
      response.end(String(recorded.body.length));
    });
    const request = http.request(gate.url + path, { agent: false, method: 'PUT' });
    const sender = new Sender();
    const upload = sender.fill(request);
    await sender.stalls();
    resume();
    await upload;
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect(await text(answer)).toBe(String(sender.sent));
  });

  it('aborts the upstream request when the client leaves before a response', async () => {
    let arrived = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    upstream.script(() => arrived());
    const request = http.get(gate.url + path, { agent: false });
    request.on('error', () => undefined);
    await there;
    request.destroy();
    await upstream.last().closed;
  });

  it('never completes an upload that the client aborted', async () => {
    let arrived = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    upstream.script((request) => void request.once('data', () => arrived()));
    for (const length of [{ 'content-length': '100' }, {}] as http.OutgoingHttpHeaders[]) {
      // A short form or JSON body is read completely before the upstream is called.
      const headers = { 'content-type': 'application/octet-stream', ...length };
      const request = http.request(gate.url + path, { agent: false, method: 'POST', headers });
      request.on('error', () => undefined);
      request.write('half');
      await there;
      await vi.waitFor(() => expect(upstream.last().body.toString()).toBe('half'), { timeout: 30_000 });
      request.destroy();
      await expect(upstream.last().whole).rejects.toThrow('before the end');
    }
  });

  it('forwards an early refusal of a large upload', async () => {
    upstream.script((_request, response) => void response.writeHead(413).end('too large'));
    const [answer] = await ask(
      path,
      { method: 'POST', headers: { 'content-length': '4000000' } },
      Buffer.alloc(4_000_000),
    );
    expect(answer.statusCode).toBe(413);
    expect(await text(answer)).toBe('too large');
  });

  it('answers HEAD, 204 and 304 without a body, and keeps their fields', async () => {
    upstream.script((request, response) => {
      if (request.method === 'HEAD') response.writeHead(200, { 'content-length': '5', etag: '"1"' }).end();
      else response.writeHead(Number(request.url?.slice(-3)), { etag: '"1"' }).end();
    });
    const [head] = await ask(path, { method: 'HEAD' });
    expect([head.statusCode, head.headers['content-length'], head.headers.etag, await text(head)]).toEqual([
      200,
      '5',
      '"1"',
      '',
    ]);
    for (const status of [204, 304]) {
      const [answer] = await ask(`${path}/${status}`);
      expect([answer.statusCode, answer.headers.etag, await text(answer)]).toEqual([status, '"1"', '']);
    }
  });

  it('supports Expect: 100-continue', async () => {
    const [answer] = await ask(
      path,
      { method: 'POST', headers: { expect: '100-continue', 'content-length': '2' } },
      Buffer.from('hi'),
    );
    expect(answer.statusCode).toBe(200);
    expect(upstream.last().body.toString()).toBe('hi');
    expect(upstream.last().values('expect')).toEqual([]);
  });

  it.each([
    ['a GET', 'Trailer: x\r\n', '', 'GET'],
    ['a POST of known length', 'Trailer: x\r\nContent-Length: 2\r\n', 'hi', 'POST'],
    [
      'a chunked POST',
      'Trailer: X-Member-Id\r\nTransfer-Encoding: chunked\r\n',
      '2\r\nhi\r\n0\r\nX-Member-Id: evil\r\n\r\n',
      'POST',
    ],
  ])('survives a Trailer header on %s and drops trailers', async (_kind, headers, body, method) => {
    let trailers: unknown;
    upstream.script(async (request, response, recorded) => {
      await recorded.whole;
      trailers = request.rawTrailers;
      response.end('ok');
    });
    const answer = await gate.raw(
      `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(upstream.last().values('trailer')).toEqual([]);
    expect(trailers).toEqual([]);
    expect(upstream.last().body.toString()).toBe(body === '' ? '' : 'hi');
  });

  it('does not parse a body that looks like a request', async () => {
    const before = upstream.requests.length;
    const hidden = `GET ${path}/hidden HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const method of ['GET', 'DELETE', 'POST']) {
      const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
      for (const framed of [
        `Transfer-Encoding: chunked\r\n\r\n${chunked}`,
        `Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
      ]) {
        await gate.raw(`${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framed}`);
        expect(upstream.last().body.toString()).toBe(hidden);
        await gate.raw(`GET ${path}/next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
        expect(upstream.last().target).toBe(`${path}/next`);
      }
    }
    expect(upstream.requests.length - before).toBe(12);
  });

  it('reuses one connection for sequential requests', async () => {
    await ask(path).then(([answer]) => text(answer));
    const before = upstream.connections();
    for (let n = 0; n < 20; n += 1) await ask(path).then(([answer]) => text(answer));
    expect(upstream.connections() - before).toBeLessThanOrEqual(1);
  });

  it('answers a plain request while 300 event streams are open', async () => {
    upstream.script((request, response, recorded) => {
      if (!request.url?.endsWith('/stream')) return answerOk(request, response, recorded);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': hello\n\n');
    });
    const streams = await Promise.all(Array.from({ length: 300 }, () => ask(`${path}/stream`)));
    const [answer] = await ask(path);
    expect(await text(answer)).toBe('{"ok":true}');
    for (const [, request] of streams) request.destroy();
  });

  it('retries a GET once, and a POST never, when a reused connection turns out to be closed', async () => {
    const seen: string[] = [];
    const raw = await startRawUpstream((socket, connection) => {
      seen.push(String(connection));
      // The first connection is reused, and closed during the second request.
      if (connection === 0 && seen.length > 1) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const own = await startGate(raw.url);
    const send = async (method: string) => (await fetch(own.url + path, { method, keepalive: false })).status;
    expect(await send('GET')).toBe(200);
    expect(await send('GET')).toBe(200);
    expect(seen).toEqual(['0', '0', '1']);

    const second = await startRawUpstream((socket, connection) => {
      if (connection === 0 && second.received[0]?.includes('POST')) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const other = await startGate(second.url);
    expect((await fetch(other.url + path)).status).toBe(200);
    expect((await fetch(other.url + path, { method: 'POST' })).status).toBe(502);
    expect(second.received).toHaveLength(1);
    await Promise.all([own.close(), other.close(), raw.close(), second.close()]);
  });
});

it('never mixes the identities of pipelined requests', async () => {
  const before = upstream.requests.length;
  await gate.raw('GET /api/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /open/2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const ids = upstream.requests.slice(before).map((request) => [request.target, request.values('x-member-id')]);
  expect(ids.sort()).toEqual([
    ['/api/1', ['m-1']],
    ['/open/2', []],
  ]);
});
