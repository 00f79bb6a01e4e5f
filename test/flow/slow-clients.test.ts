import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectionBounds } from '../../src/process/descriptors.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import type { RawSocket } from '../support/raw-socket.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

/**
 * The gate's configured limits on client connections, measured at the gate itself. Each test waits for the limit, then
 * checks the result.
 */
describe('a gate with short timeouts', () => {
  let upstream: RecordingUpstream;
  let gate: ProxyWorld;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    gate = await startProxyWorld({
      upstream: upstream.url,
      constants: { listen: { stall: 1, uploadRate: 10_240, headTimeout: 0.6 } },
    });
  });
  afterAll(async () => {
    await gate.close();
    await upstream.close();
  });

  it.each([
    ['nothing', ''],
    ['half a head', 'GET /public/x HTTP/1.1\r\nHost: '],
  ])('answers 408 to a client that sends %s in that time, and closes', async (_what, bytes) => {
    const { write, closed, received } = await gate.socket();
    const began = performance.now();
    if (bytes !== '') write(bytes);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(performance.now() - began).toBeGreaterThan(550);
  });

  it('drops a client that reads nothing of a response, and closes the upstream’s side', async () => {
    upstream.script((_request, response) => {
      const fill = () => {
        while (!response.destroyed && response.write(Buffer.alloc(1024 * 1024)));
      };
      response.on('drain', fill);
      fill();
    });
    const { socket, write } = await gate.socket();
    socket.pause();
    const asked = upstream.requests.length;
    write(`GET /member/x HTTP/1.1\r\nHost: ${gate.host}\r\nAuthorization: Bearer ${gate.token}\r\n\r\n`);
    await expect.poll(() => upstream.requests.length).toBe(asked + 1);
    await upstream.last().closed;
    socket.destroy();
  });

  it('drops an upload that is too slow, and never completes it at the upstream', async () => {
    upstream.script((request) => void request.resume());
    const { write, closed } = await gate.socket();
    const asked = upstream.requests.length;
    write(
      `POST /member/x HTTP/1.1\r\nHost: ${gate.host}\r\nAuthorization: Bearer ${gate.token}\r\nContent-Length: 1000000\r\n\r\nfirst`,
    );
    await expect.poll(() => upstream.requests.length).toBe(asked + 1);
    await closed;
    await expect(upstream.last().whole).rejects.toThrow('before the end');
  });
});

/** A machine that stalls for as long as the gate waits for a request spoils an attempt. */
const AGAIN = { retry: 2 };

describe('a gate that accepts six connections, and four from one address', AGAIN, () => {
  let upstream: RecordingUpstream;
  let gate: ProxyWorld;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    gate = await startProxyWorld({
      upstream: upstream.url,
      listenOptions: { host: '0.0.0.0', maxConnections: 6 },
      constants: { listen: { maxConnectionsPerAddress: 4 } },
    });
  });
  afterAll(async () => {
    await gate.close();
    await upstream.close();
  });

  const ask = (authorized = false) =>
    `GET /${authorized ? 'member' : 'public'}/x HTTP/1.1\r\nHost: ${gate.host}\r\n${authorized ? `Authorization: Bearer ${gate.token}\r\n` : ''}\r\n`;
  const REFUSED = /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*\r\nConnection: close\r\n[\s\S]*\r\n\r\n$/;

  it('refuses a fifth connection from one address without reading its request, and admits others', async () => {
    // Wait until the connections from starting this world are closed.
    await expect
      .poll(async () => (await gate.raw(ask().replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))).slice(9, 12))
      .toBe('200');
    const silent = [];
    for (;;) {
      const one = await gate.socket();
      const outcome = await Promise.race([
        once(one.socket, 'data'),
        new Promise((resolve) => setTimeout(resolve, 100)),
      ]);
      if (outcome !== undefined) {
        expect(await one.closed).toBe('end');
        expect(one.received()).toMatch(REFUSED);
        break;
      }
      silent.push(one);
      expect(silent.length).toBeLessThanOrEqual(4);
    }
    expect(silent.length).toBeGreaterThan(0);
    const asked = upstream.requests.length;
    expect(await gate.raw(ask(true))).toMatch(REFUSED);
    expect(upstream.requests).toHaveLength(asked);
    const other = await gate.socket('127.0.0.2');
    other.write(ask());
    await other.until(/^HTTP\/1\.1 200 /);
    other.socket.destroy();
    for (const { socket } of silent) socket.destroy();
    await expect
      .poll(async () => (await gate.raw(ask().replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))).slice(9, 12))
      .toBe('200');
  });

  it('refuses a seventh connection until idle ones have been closed', async () => {
    const open: RawSocket[] = [];
    for (;;) {
      const one = await gate.socket(`127.0.0.${10 + open.length}`);
      one.write(ask());
      const [head] = await one.until(/^HTTP\/1\.1 \d+ [\s\S]*\r\n\r\n/);
      if (head.startsWith('HTTP/1.1 503')) break;
      open.push(one);
      expect(open.length).toBeLessThanOrEqual(6);
    }
    await Promise.all(open.map(({ closed }) => closed));
    const next = await gate.socket('127.0.0.20');
    next.write(ask());
    await next.until(/^HTTP\/1\.1 200 /);
    next.socket.destroy();
  });
});

describe('the connections that file descriptors leave', () => {
  it.each([
    [1024, 10_000, false, { public: 448, admin: 32, decisions: 128 }],
    [1024, 10_000, true, { public: 384, admin: 32, decisions: 128 }],
    [1024, 100, true, { public: 100, admin: 32, decisions: 100 }],
    [1_000_000, 10_000, true, { public: 10_000, admin: 256, decisions: 10_000 }],
    [20_000, 20_000, false, { public: 9232, admin: 256, decisions: 2500 }],
    [8, 10_000, true, { public: 2, admin: 1, decisions: 1 }],
    [Number.POSITIVE_INFINITY, 10_000, true, { public: 10_000, admin: 256, decisions: 10_000 }],
  ])('of %d, with %d wanted and a listener for decisions: %s', (limit, most, hasDecisions, bounds) => {
    expect(connectionBounds(limit, most, hasDecisions)).toEqual(bounds);
  });
});
