import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startProxyWorld } from '../support/proxy-world.ts';
import {
  answerOk,
  type RecordingUpstream,
  startRawUpstream,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';
import { getOnOwnConnection } from './on-own-connection.ts';

let upstream: RecordingUpstream;
let gate: TestGate;
beforeEach(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url, {
    upstream: { maxRequests: 3, maxStreams: 2, breaker: { failures: 2, cooldown: 5 } },
  });
});
afterEach(async () => {
  await gate.close();
  await upstream.close();
});

const ask = (path: string) => getOnOwnConnection(gate.url + path);
const state = () => gate.upstream.admission.state();

describe('the site lane', () => {
  it('shares the upstream’s request limit with the protected lane, and queues nothing', async () => {
    const open: (() => void)[] = [];
    upstream.script((_request, response) => void open.push(() => void response.end('late')));
    const three = [ask('/1'), ask('/2'), ask('/api/3')];
    await expect.poll(() => open.length).toBe(3);
    for (const path of ['/4', '/api/4']) {
      const [refused] = await ask(path);
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
      expect(JSON.parse(await text(refused))).toMatchObject({ code: 'upstream_overloaded' });
    }
    expect(upstream.requests).toHaveLength(3);
    for (const finish of open) finish();
    for (const one of three) expect(await text((await one)[0])).toBe('late');
    expect(state()).toMatchObject({ requests: 0, streams: 0 });
  });

  it('counts event streams separately', async () => {
    upstream.script((request, response, recorded) => {
      if (!request.url?.includes('stream')) return answerOk(request, response, recorded);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': hello\n\n');
    });
    const streams = [await ask('/stream'), await ask('/stream')];
    expect(state()).toMatchObject({ requests: 0, streams: 2 });
    const [third] = await ask('/stream');
    expect([third.statusCode, third.headers['content-type']]).toEqual([503, 'application/problem+json']);
    expect((await ask('/x'))[0].statusCode).toBe(200);
    for (const [, request] of streams) request.destroy();
    await expect.poll(state).toMatchObject({ requests: 0, streams: 0 });
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
  ])('frees its place when %s', async (_what, behaviour, leaves) => {
    upstream.script((_request, response) => behaviour(response));
    const request = http.get(`${gate.url}/x`, { agent: false });
    request.on('error', () => undefined);
    request.on('response', (answer) => answer.on('error', () => undefined).resume());
    await expect.poll(() => upstream.requests.length).toBe(1);
    expect(leaves ? state().requests : 1).toBe(1);
    if (leaves) request.destroy();
    await expect.poll(state).toMatchObject({ requests: 0, streams: 0 });
  });

  it('stops an upload to the upstream that was answered early, while the client still sends', async () => {
    upstream.script((_request, response) => void response.writeHead(413).end('too large'));
    const client = gate.socket();
    client.allowHalfOpen = true;
    client.write('POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nbegun');
    const [answer] = await once(client, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    const connections = () =>
      new Promise((resolve) => upstream.server.getConnections((_error, count) => resolve(count)));
    await expect.poll(connections).toBe(0);
    expect(client.writable).toBe(true);
    expect(upstream.last().body.toString()).toBe('begun');
    client.destroy();
  });

  it('shares the breaker with the protected lane, and recovers', async () => {
    let down = true;
    const raw = await startRawUpstream((socket) =>
      down ? void socket.destroy() : void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
    );
    let now = 0;
    const own = await startGate(raw.url, {
      now: () => now,
      upstream: { breaker: { failures: 2, cooldown: 5 } },
    });
    const status = async (path: string) => (await fetch(own.url + path)).status;
    expect([await status('/1'), await status('/2'), await status('/3'), await status('/api/4')]).toEqual([
      502, 502, 503, 503,
    ]);
    expect(raw.received).toHaveLength(2);
    down = false;
    now = 5_001;
    expect([await status('/5'), await status('/api/6')]).toEqual([200, 200]);
    await own.close();
    await raw.close();
  });
});

it('a visitor of the site gets an error page at once while the upstream is down', async () => {
  const gone = await startRecordingUpstream();
  const world = await startProxyWorld({ upstream: gone.url });
  await gone.close();
  const answer = await fetch(`${world.origin}/courses`, { headers: { accept: 'text/html' } });
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
    502,
    'text/html; charset=utf-8',
    'no-store',
  ]);
  expect(await answer.text()).not.toContain('127.0.0.1');
  await world.close();
});
