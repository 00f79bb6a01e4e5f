import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBreaker } from '../../src/upstream/breaker.ts';
import { type RawUpstream, startRawUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** The time limits of the gate are short, so that no test waits for long: a machine that stalls for one spoils an attempt. */
const AGAIN = { retry: 2 };

describe('the breaker of a failing upstream', AGAIN, () => {
  let behave: (socket: Socket) => void;
  let upstream: RawUpstream;
  let gate: TestGate;
  let now = 0;

  beforeAll(async () => {
    upstream = await startRawUpstream((socket) => behave(socket));
  });
  beforeEach(async () => {
    now = 0;
    gate = await startGate(upstream.url, {
      timeout: 0.2,
      now: () => now,
      upstream: { breaker: { failures: 3, cooldown: 5 } },
    });
  });
  afterEach(() => gate.close());
  afterAll(() => upstream.close());

  const reset = (socket: Socket) => void socket.resetAndDestroy();
  const answer = (bytes: string) => (socket: Socket) => void socket.write(bytes);
  const ask = async () => {
    const response = await fetch(`${gate.url}/api/x`);
    await response.text().catch(() => undefined);
    return response;
  };
  const statuses = async (count: number) => {
    const seen: number[] = [];
    for (let n = 0; n < count; n += 1) seen.push((await ask()).status);
    return seen;
  };
  const state = () => gate.upstream.admission.state().breaker;
  const outage = () => gate.upstream.admission.state().outage;

  it('opens after the configured number of failures in a row, and sends Retry-After', async () => {
    behave = reset;
    const before = upstream.received.length;
    expect(await statuses(3)).toEqual([502, 502, 502]);
    expect(state()).toBe('open');
    now = 1_500;
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '4']);
    expect(gate.failures.at(-1)?.code).toBe('upstream_unavailable');
    expect(upstream.received.length - before).toBe(3);
  });

  it('counts timeouts', async () => {
    behave = () => undefined;
    expect(await statuses(4)).toEqual([504, 504, 504, 503]);
  });

  it('counts refused connections', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as { port: number };
    closed.close();
    const own = await startGate(`http://127.0.0.1:${port}`, {
      upstream: { breaker: { failures: 2, cooldown: 5 } },
    });
    const seen: number[] = [];
    for (let n = 0; n < 3; n += 1) seen.push((await fetch(`${own.url}/api/x`)).status);
    expect(seen).toEqual([502, 502, 503]);
    await own.close();
  });

  it('admits one request after the cooldown, and all once that succeeded', async () => {
    behave = reset;
    await statuses(3);
    now = 5_000;
    expect(state()).toBe('half_open');
    const held: Socket[] = [];
    behave = (socket) => void held.push(socket);
    const probe = ask();
    await expect.poll(() => held.length).toBe(1);
    expect(await statuses(2)).toEqual([503, 503]);
    now = 7_000;
    expect((await ask()).headers.get('retry-after')).toBe('1');
    held[0]?.write(OK);
    expect((await probe).status).toBe(200);
    expect(state()).toBe('closed');
    behave = answer(OK);
    expect(await statuses(5)).toEqual([200, 200, 200, 200, 200]);
  });

  it('opens again at once when that request fails', async () => {
    behave = reset;
    await statuses(3);
    now = 5_000;
    expect([state(), outage()]).toEqual(['half_open', { failures: 3, lasting: 5_000 }]);
    expect(await statuses(2)).toEqual([502, 503]);
    expect(outage()).toEqual({ failures: 4, lasting: 5_000 });
    now = 9_999;
    expect(await statuses(1)).toEqual([503]);
    now = 10_000;
    behave = answer(OK);
    expect(await statuses(2)).toEqual([200, 200]);
    expect(outage()).toBeUndefined();
  });

  it('admits another request when the client of that one leaves', async () => {
    behave = reset;
    await statuses(3);
    now = 5_000;
    const held: Socket[] = [];
    behave = (socket) => void held.push(socket);
    const client = gate.socket();
    client.write('GET /api/x HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => held.length).toBe(1);
    client.destroy();
    await expect.poll(() => gate.upstream.admission.state().requests).toBe(0);
    behave = answer(OK);
    expect(await statuses(1)).toEqual([200]);
  });

  it.each([
    ['application errors', answer('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n'), 500],
    ['refusals', answer('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'), 404],
    [
      'streams that end',
      (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'),
      200,
    ],
    [
      'truncated bodies',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab');
        setTimeout(() => socket.resetAndDestroy(), 20);
      },
      200,
    ],
    ['unusable responses', answer('SSH-2.0-OpenSSH\r\n'), 502],
  ])('never opens for %s', async (_what, behaviour, status) => {
    behave = behaviour;
    expect(await statuses(4)).toEqual([status, status, status, status]);
    expect(state()).toBe('closed');
  });

  it('starts counting again after a response', async () => {
    behave = reset;
    expect(await statuses(2)).toEqual([502, 502]);
    behave = answer(OK);
    await statuses(1);
    behave = reset;
    expect(await statuses(2)).toEqual([502, 502]);
    expect(state()).toBe('closed');
  });
});

it('a breaker ignores the late failure of a request that was sent before it opened', () => {
  let now = 0;
  const breaker = createBreaker({ failures: 1, cooldown: 1_000, now: () => now });
  for (let n = 0; n < 3; n += 1) breaker.admit();
  breaker.failed(false);
  now = 900;
  breaker.failed(false);
  now = 1_000;
  expect(breaker.admit()).toBe(true);
});

it('a breaker never opens if it is disabled', () => {
  const breaker = createBreaker({ failures: 0, cooldown: 1_000, now: () => 0 });
  for (let n = 0; n < 100; n += 1) {
    breaker.admit();
    breaker.failed(false);
  }
  expect(breaker.state()).toBe('closed');
});
