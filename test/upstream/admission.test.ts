import http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { carriedOver } from '../../src/config/carried-over.ts';
import type { UpstreamConfig } from '../../src/config/schema.ts';
import { createPools } from '../../src/upstream/pools.ts';
import {
  answerOk,
  type RecordingUpstream,
  startRawUpstream,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';
import { upstreamConfig } from '../support/upstream-config.ts';
import { startGate, type TestGate } from './gate.ts';
import { getOnOwnConnection } from './on-own-connection.ts';

let upstream: RecordingUpstream;
let gate: TestGate;

beforeEach(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url, { upstream: { maxRequests: 3, maxStreams: 5 } });
});
afterEach(async () => {
  await gate.close();
  await upstream.close();
});

const ask = (path: string, accept?: string) => getOnOwnConnection(gate.url + path, accept);
const stream = (count: number) =>
  Promise.all(Array.from({ length: count }, () => ask('/api/stream', 'text/event-stream')));
const occupied = () => {
  const { requests, streams } = gate.upstream.admission.state();
  return [requests, streams];
};

describe('an upstream with a limit of three requests and five streams', () => {
  beforeEach(() =>
    upstream.script((request, response, recorded) => {
      if (!request.url?.includes('stream')) return answerOk(request, response, recorded);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': hello\n\n');
    }),
  );

  it('gets a fourth request only when one of the three has finished', async () => {
    const open: (() => void)[] = [];
    upstream.script((_request, response) => void open.push(() => void response.end('late')));
    const three = [ask('/api/1'), ask('/api/2'), ask('/api/3')];
    await expect.poll(() => open.length).toBe(3);
    const [refused] = await ask('/api/4');
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(JSON.parse(await text(refused))).toMatchObject({ code: 'upstream_overloaded' });
    expect(upstream.requests).toHaveLength(3);
    for (const finish of open) finish();
    for (const one of three) expect(await text((await one)[0])).toBe('late');
    expect(occupied()).toEqual([0, 0]);
    upstream.script(answerOk);
    expect((await ask('/api/5'))[0].statusCode).toBe(200);
  });

  it('answers requests while all of its streams are open, and refuses a sixth stream', async () => {
    const streams = await stream(4);
    // A request that does not announce that it expects a stream.
    streams.push(await ask('/api/stream'));
    expect(occupied()).toEqual([0, 5]);
    for (let n = 0; n < 5; n += 1) expect(await text((await ask('/api/x'))[0])).toBe('{"ok":true}');
    for (const accept of ['*/*', 'text/event-stream']) {
      const [sixth] = await ask('/api/stream', accept);
      expect([sixth.statusCode, sixth.headers['retry-after'], sixth.headers['content-type']]).toEqual([
        503,
        '1',
        'application/problem+json',
      ]);
    }
    await expect.poll(occupied).toEqual([0, 5]);
    for (const [, request] of streams) request.destroy();
    await expect.poll(occupied).toEqual([0, 0]);
    const [again] = await ask('/api/stream');
    expect(again.statusCode).toBe(200);
  });

  it.each([
    ['the client disconnects before a response', (_response: http.ServerResponse) => undefined, true],
    ['the upstream closes the connection', (response: http.ServerResponse) => void response.destroy(), false],
    [
      'the upstream closes the connection in the body',
      (response: http.ServerResponse) => {
        response.writeHead(200, { 'content-length': '10' });
        response.write('12345', () => response.destroy());
      },
      false,
    ],
  ])('frees the place of a request when %s', async (_what, behaviour, leaves) => {
    upstream.script((_request, response) => behaviour(response));
    const before = upstream.requests.length;
    const request = http.get(`${gate.url}/api/x`, { agent: false });
    request.on('error', () => undefined);
    request.on('response', (answer) => answer.on('error', () => undefined).resume());
    await expect.poll(() => upstream.requests.length).toBe(before + 1);
    if (leaves) request.destroy();
    await expect.poll(occupied).toEqual([0, 0]);
    await upstream.last().closed;
  });
});

describe('a changed configuration', () => {
  const before = upstreamConfig('http://127.0.0.1:1');
  const isCarriedOver = (change: Partial<UpstreamConfig>): boolean => {
    const all = carriedOver();
    const [old, next] = [before, { ...before, ...change }].map((school) =>
      createPools({ school }, undefined, all.share()).get('school'),
    );
    return old === next;
  };

  it.each<Partial<UpstreamConfig>>([
    { url: 'http://127.0.0.1:2' },
    { timeout: 9 },
    { connectTimeout: 1 },
    { streamTimeout: 60 },
    { maxRequests: 3 },
    { maxStreams: 3 },
    { breaker: { failures: 5, cooldown: 6 } },
    { identity: ['assertion'] },
    { client: 'undici' },
  ])('opens an upstream again for %j', (change) => {
    expect(isCarriedOver(change)).toBe(false);
  });

  it('carries an upstream over that has not changed, whatever else has', () => {
    expect(isCarriedOver({ aliases: ['app.internal'], tunnelTimeout: 5 })).toBe(true);
  });
});

describe('upstream connections', () => {
  it('are reused, most recently used first, and those of a burst are closed when idle', async () => {
    const open: (() => void)[] = [];
    upstream.script((_request, response) => void open.push(() => void response.end('late')));
    const burst = [ask('/api/1'), ask('/api/2'), ask('/api/3')];
    await expect.poll(() => open.length).toBe(3);
    for (const finish of open) finish();
    for (const one of burst) await text((await one)[0]);
    expect([upstream.connections(), gate.upstream.connections.size]).toEqual([3, 3]);

    upstream.script(answerOk);
    const ports = new Set<number | undefined>();
    upstream.server.on('request', (request) => ports.add(request.socket.remotePort));
    for (let n = 0; n < 10; n += 1) await text((await ask('/api/x'))[0]);
    expect(ports.size).toBe(1);
    expect(upstream.connections()).toBe(3);
    upstream.server.closeIdleConnections();
    await expect.poll(() => gate.upstream.connections.size).toBe(0);
    await text((await ask('/api/x'))[0]);
    expect(gate.upstream.connections.size).toBe(1);
  });

  it('are not used for longer than five minutes, so that DNS changes take effect', async () => {
    let now = 0;
    const own = await startGate(upstream.url, { now: () => now });
    const before = upstream.connections();
    const get = async () => (await fetch(`${own.url}/api/x`)).text();
    await get();
    now = 299_999;
    await get();
    expect(upstream.connections() - before).toBe(1);
    now = 300_001;
    await get();
    await get();
    expect(upstream.connections() - before).toBe(2);
    await own.close();
  });

  it('that were closed while idle cost a GET one retry, on a new connection', async () => {
    const seen: number[] = [];
    let closing = false;
    const held: (() => void)[] = [];
    const raw = await startRawUpstream((socket, connection) => {
      seen.push(connection);
      const answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      if (closing && connection < 3) socket.destroy();
      else if (connection < 3) held.push(answer);
      else answer();
    });
    const own = await startGate(raw.url);
    const get = async (method = 'GET') => (await fetch(`${own.url}/api/x`, { method })).status;
    const three = [get(), get(), get()];
    await expect.poll(() => held.length).toBe(3);
    for (const answer of held) answer();
    expect(await Promise.all(three)).toEqual([200, 200, 200]);
    closing = true;
    seen.length = 0;
    expect(await get()).toBe(200);
    expect(seen).toHaveLength(2);
    expect(seen[1]).toBe(3);
    await own.close();
    await raw.close();
  });

  it('that never carried a response are not retried', async () => {
    let heads = 0;
    const raw = await startRawUpstream((socket) => {
      heads += 1;
      socket.resetAndDestroy();
    });
    const own = await startGate(raw.url);
    expect((await fetch(`${own.url}/api/x`)).status).toBe(502);
    expect(heads).toBe(1);
    await own.close();
    await raw.close();
  });
});
