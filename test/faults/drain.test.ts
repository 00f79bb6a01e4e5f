import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

/** Both lanes of the gate, and the result of a request without a token. */
const LANES = ['/api/v1/courses', '/a-page-of-the-site'] as const;

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
}

/** A request that the test writes in pieces. */
function open(url: string, headers: Record<string, string> = {}, agent: Agent | false = false) {
  const sent: ClientRequest = request(url, {
    method: headers['content-type'] === undefined ? 'GET' : 'POST',
    headers,
    agent,
  });
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject);
      response.once('end', () =>
        resolve({ status: response.statusCode, connection: response.headers.connection, text }),
      );
    });
  });
  return { sent, answer };
}

/** A connection with the bytes it received, and how it ended. */
function raw(origin: string, message: string) {
  const socket: Socket = connect(Number(new URL(origin).port), '127.0.0.1');
  let received = '';
  let failure: string | undefined;
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code;
  });
  socket.write(message);
  const closed = new Promise<{ received: string; failure: string | undefined }>((resolve) => {
    socket.once('close', () => resolve({ received, failure }));
  });
  return { received: () => received, closed };
}

const get = (path: string, version = '1.1', more = '') =>
  `GET ${path} HTTP/${version}\r\nHost: localhost\r\n${more}\r\n`;

describe('a gate that is stopped', () => {
  let upstream: RecordingUpstream;
  let gate: GateProcess;
  beforeEach(async () => {
    upstream = await startRecordingUpstream();
  });
  afterEach(async () => {
    await gate.close();
    await upstream.close();
  });

  const start = async (drain: string) => {
    gate = await gateProcess({
      profile: 'B',
      environment: { COURSEGATE__UPSTREAMS__SCHOOL__URL: upstream.url, COURSEGATE__LISTEN__DRAIN: drain },
    });
    await gate.start();
  };
  const readiness = async () => (await fetch(`${gate.admin}/readyz`)).status;
  const refusesConnections = () =>
    new Promise<boolean>((resolve) => {
      const probe = connect(Number(new URL(gate.origin).port), '127.0.0.1');
      probe.once('error', () => resolve(true));
      probe.once('connect', () => {
        probe.destroy();
        resolve(false);
      });
    });

  it('reports not ready first, accepts nothing more, finishes requests in progress, and exits 0', async () => {
    await start('{ notice: 1s, grace: 60s }');
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    upstream.script(async (incoming, response, recorded) => {
      if (incoming.method === 'GET' && incoming.url?.includes('slow')) await held;
      return answerOk(incoming, response, recorded);
    });
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = open(`${gate.origin}/`, {}, kept);
    first.sent.end();
    expect(await first.answer).toMatchObject({ status: 200, connection: 'keep-alive' });
    const idle = raw(gate.origin, get('/'));
    await expect.poll(idle.received).toContain('{"ok":true}');
    const silent = raw(gate.origin, '');

    const slow = LANES.map((path) => open(`${gate.origin}${path}?slow`));
    for (const { sent } of slow) sent.end();
    const upload = open(`${gate.origin}/upload`, { 'content-type': 'text/plain', 'content-length': '10' });
    upload.sent.write('first');
    const form = 'grant_type=refresh_token&client_id=nobody';
    const type = 'application/x-www-form-urlencoded';
    const token = open(`${gate.origin}/api/oauth/token`, {
      'content-type': type,
      'content-length': String(form.length),
    });
    token.sent.write(form.slice(0, 9));
    await expect.poll(() => upstream.requests.length).toBe(5);

    const began = performance.now();
    gate.signal('SIGTERM');
    await expect.poll(readiness, { interval: 10 }).toBe(503);
    // The balancer has not noticed yet: its requests are served with `Connection: close`.
    const noticed = open(`${gate.origin}/`, {}, kept);
    noticed.sent.end();
    expect(await noticed.answer).toMatchObject({ status: 200, connection: 'close' });
    expect((await fetch(`${gate.admin}/livez`)).status).toBe(200);

    await expect.poll(refusesConnections, { interval: 20 }).toBe(true);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect((await idle.closed).failure).toBeUndefined();
    expect((await silent.closed).failure).toBeUndefined();
    expect(await readiness()).toBe(503);

    release();
    for (const { answer } of slow) {
      expect(await answer).toMatchObject({ status: 200, connection: 'close', text: '{"ok":true}' });
    }
    upload.sent.end('-last');
    expect(await upload.answer).toMatchObject({ status: 200, text: '{"ok":true}' });
    expect(upstream.requests.map(({ body }) => body.toString())).toContain('first-last');
    token.sent.end(form.slice(9));
    const refused = await token.answer;
    expect([refused.status, JSON.parse(refused.text).error]).toEqual([401, 'invalid_client']);
    expect(await gate.exited()).toBe(0);
    expect(performance.now() - began).toBeLessThan(30_000);
    kept.destroy();
  });

  it.each(LANES)('ends the event streams of %s properly, without completing an unfinished event', async (path) => {
    await start('{ grace: 500ms }');
    upstream.script((_incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: whole\n\ndata: hal');
      const more = setInterval(() => response.write('f'), 5);
      response.once('close', () => clearInterval(more));
    });
    const stream = raw(gate.origin, get(path));
    await expect.poll(stream.received).toContain('data: hal');
    const began = performance.now();
    gate.signal('SIGTERM');
    const { received, failure } = await stream.closed;
    expect(failure).toBeUndefined();
    expect(received).toMatch(/f\r\n0\r\n\r\n$/);
    expect(received.slice(received.indexOf('data: hal'))).not.toMatch(/(?<!\r)\n/);
    expect(await gate.exited()).toBe(0);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it.each(LANES.flatMap((path) => ['1.1', '1.0'].map((version) => ({ path, version }))))(
    'aborts the response of $path over HTTP/$version, so that it does not look complete',
    async ({ path, version }) => {
      await start('{ grace: 300ms }');
      upstream.script((_incoming, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('half of it');
      });
      const answer = raw(gate.origin, get(path, version));
      await expect.poll(answer.received).toContain('half of it');
      gate.signal('SIGTERM');
      const { received, failure } = await answer.closed;
      if (version === '1.1') expect(received).not.toContain('\r\n0\r\n\r\n');
      else expect(failure).toBe('ECONNRESET');
      expect(await gate.exited()).toBe(0);
    },
  );

  it('closes WebSockets properly at both ends', async () => {
    await start('{ grace: 60s }');
    const ends: string[] = [];
    upstream.onUpgrade((_incoming, socket) => {
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfrom the site',
      );
      socket.on('error', () => ends.push('error'));
      socket.once('end', () => {
        ends.push('end');
        socket.end();
      });
      socket.resume();
    });
    const fields =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2l4dGVlbiBieXRlcyEhIQ==\r\n';
    const tunnel = raw(gate.origin, get('/ws', '1.1', fields));
    await expect.poll(tunnel.received).toContain('from the site');
    const began = performance.now();
    gate.signal('SIGTERM');
    expect((await tunnel.closed).failure).toBeUndefined();
    expect(await gate.exited()).toBe(0);
    expect(ends).toEqual(['end']);
    expect(performance.now() - began).toBeLessThan(30_000);
  });

  it('does not wait after a second signal', async () => {
    await start('{ grace: 60s }');
    upstream.script(() => undefined);
    const waiting = raw(gate.origin, get('/'));
    await expect.poll(() => upstream.requests.length).toBe(1);
    gate.signal('SIGTERM');
    await expect.poll(readiness, { interval: 10 }).toBe(503);
    const again = performance.now();
    gate.signal('SIGTERM');
    expect(await gate.exited()).toBe(1);
    expect(performance.now() - again).toBeLessThan(30_000);
    await waiting.closed;
  });
});
