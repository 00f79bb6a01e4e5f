import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

const LIMIT = 64 * 1024;

let upstream: RecordingUpstream;
let gate: TestGate;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url, { limits: { request: LIMIT, response: LIMIT } });
});
beforeEach(() => upstream.script(answerOk));
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

/** Sends a chunked body in pieces until it is complete or the gate has responded. */
async function sendChunked(pieces: number, size: number): Promise<{ status: number; body: string; sent: number }> {
  const request = http.request(`${gate.url}/api/x`, { method: 'POST', agent: false });
  request.on('error', () => undefined);
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  let answer: IncomingMessage | undefined;
  request.once('response', (first: IncomingMessage) => {
    answer = first;
  });
  let sent = 0;
  for (; sent < pieces && answer === undefined; sent += 1) {
    if (!request.write(Buffer.alloc(size))) {
      await Promise.race([once(request, 'drain'), answered]);
    }
    await new Promise(setImmediate);
  }
  if (answer === undefined) request.end();
  const [response] = await answered;
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  await once(response, 'close');
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), sent: sent * size };
}

describe('a request body', () => {
  it('of exactly the limit is accepted, with a length or chunked', async () => {
    const answer = await fetch(`${gate.url}/api/x`, { method: 'POST', body: Buffer.alloc(LIMIT) });
    expect(answer.status).toBe(200);
    expect(upstream.last().body).toHaveLength(LIMIT);
    expect((await sendChunked(4, LIMIT / 4)).status).toBe(200);
    expect(upstream.last().body).toHaveLength(LIMIT);
  });

  it('with a larger Content-Length is refused without asking the upstream or reading the body', async () => {
    const asked = upstream.requests.length;
    const head = `POST /api/x HTTP/1.1\r\nHost: gate.test\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`;
    const answer = await gate.raw(head);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(answer).toMatch(/\r\ncache-control: no-store\r\n/i);
    expect(answer).toContain('"payload_too_large"');
    expect(upstream.requests.length).toBe(asked);
  });

  it('that grows over the limit gets 413 while it is still being sent, and is never completed at the upstream', async () => {
    const ended = vi.fn();
    upstream.script(async (_request, response, recorded) => {
      await recorded.whole.then(ended, () => undefined);
      response.end('whole');
    });
    const asked = upstream.requests.length;
    const { status, body, sent } = await sendChunked(10_000, 16 * 1024);
    expect(status).toBe(413);
    expect(body).toContain('"payload_too_large"');
    expect(sent).toBeLessThan(16 * 1024 * 1024);
    expect(upstream.requests.length).toBe(asked + 1);
    await upstream.last().closed;
    expect(ended).not.toHaveBeenCalled();
    expect(upstream.last().body.length).toBeLessThanOrEqual(LIMIT);
  });

  it('that grows over the limit after the response has begun aborts the response', async () => {
    upstream.script((request, response) => {
      request.resume();
      response.writeHead(200).write('begun');
    });
    const request = http.request(`${gate.url}/api/x`, { method: 'POST', agent: false });
    request.on('error', () => undefined);
    request.write(Buffer.alloc(16));
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const failed = once(answer, 'error');
    answer.resume();
    request.write(Buffer.alloc(2 * LIMIT));
    const [error] = (await failed) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(answer.complete).toBe(false);
  });

  it('is not limited on the site lane', async () => {
    const answer = await fetch(`${gate.url}/x`, { method: 'POST', body: Buffer.alloc(4 * LIMIT) });
    expect(answer.status).toBe(200);
    expect(upstream.last().body).toHaveLength(4 * LIMIT);
  });
});

describe('a response body', () => {
  it('of exactly the limit is passed on', async () => {
    upstream.script((_request, response) => void response.end(Buffer.alloc(LIMIT)));
    expect((await (await fetch(`${gate.url}/api/x`)).arrayBuffer()).byteLength).toBe(LIMIT);
  });

  it('with a larger Content-Length is a 502', async () => {
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-length': LIMIT + 1 }).end(Buffer.alloc(LIMIT + 1));
    });
    const answer = await fetch(`${gate.url}/api/x`);
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'upstream_invalid' });
  });

  it('that grows over the limit is aborted, and the upstream request is cancelled', async () => {
    const endless = new Readable({
      read() {
        this.push(Buffer.alloc(16 * 1024));
      },
    });
    upstream.script((_request, response) => void endless.pipe(response));
    const answer = await fetch(`${gate.url}/api/x`);
    expect(answer.status).toBe(200);
    let received = 0;
    const reading = (async () => {
      for await (const chunk of answer.body ?? []) received += (chunk as Uint8Array).length;
    })();
    await expect(reading).rejects.toThrow();
    expect(received).toBeLessThanOrEqual(LIMIT);
    await upstream.last().closed;
  });

  it('that is absent may have any Content-Length', async () => {
    upstream.script((_request, response) => void response.writeHead(200, { 'content-length': 10 * LIMIT }).end());
    const answer = await fetch(`${gate.url}/api/x`, { method: 'HEAD' });
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(10 * LIMIT)]);
    upstream.script((_request, response) => void response.writeHead(304, { 'content-length': 10 * LIMIT }).end());
    expect((await fetch(`${gate.url}/api/x`)).status).toBe(304);
  });

  it('of an event stream is not limited', async () => {
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(Buffer.alloc(3 * LIMIT, '\n'));
    });
    expect((await (await fetch(`${gate.url}/api/x`)).arrayBuffer()).byteLength).toBe(3 * LIMIT);
  });
});
