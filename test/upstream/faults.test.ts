import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { startRawUpstream } from '../support/recording-upstream.ts';
import { startGate } from './gate.ts';

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

/** Runs a Node script. Returns its standard input and the lines it prints. */
function child(parameters: string[]) {
  const process_ = spawn(process.execPath, parameters, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]();
  cleanup.push(() => process_.kill('SIGKILL'));
  return {
    process: process_,
    say: (line: string) => process_.stdin.write(`${line}\n`),
    line: async () => String((await lines.next()).value),
  };
}

// Thousands of connections take their time to open on a slow machine.
it.each([300, 5_000])(
  '%i open event streams use up none of the places of plain requests',
  {
    timeout: 240_000,
  },
  async (count) => {
    const others = child([fileURLToPath(new URL('held-streams.ts', import.meta.url))]);
    const [, port] = (await others.line()).split(' ');
    const gate = await startGate(`http://127.0.0.1:${port}`, { upstream: { maxRequests: 1 } });
    cleanup.push(() => gate.close());
    others.say(`${gate.port} ${count}`);
    expect(await others.line()).toBe(`open ${count}`);
    expect(gate.upstream.admission.state()).toEqual({ requests: 0, streams: count, breaker: 'closed' });
    const answer = await fetch(`${gate.url}/api/x`);
    expect([answer.status, await answer.text()]).toEqual([200, 'ok']);
    expect(gate.upstream.admission.state().streams).toBe(count);
    others.process.kill('SIGKILL');
    await expect.poll(() => gate.upstream.admission.state().streams).toBe(0);
    await expect.poll(() => gate.upstream.connections.size).toBe(0);
  },
);

describe('an upstream that cannot be connected to', () => {
  it.each(['/api/x', '/x'])(
    'because it accepts no connection leads to a 504 in time, and then opens the breaker (%s)',
    async (path) => {
      // A stopped process accepts nothing; first, the kernel's backlog of connections is used up.
      const hung = child([
        '-e',
        `const s = require('net').createServer(); s.listen({port:0,host:'127.0.0.1',backlog:1}, () => console.log(s.address().port))`,
      ]);
      const port = Number(await hung.line());
      hung.process.kill('SIGSTOP');
      const fillers: Socket[] = Array.from({ length: 6 }, () =>
        connect(port, '127.0.0.1').on('error', () => undefined),
      );
      cleanup.push(() => fillers.map((socket) => socket.destroy()));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const gate = await startGate(`http://127.0.0.1:${port}`, {
        upstream: { connectTimeout: 0.7, breaker: { failures: 1, cooldown: 5 } },
      });
      cleanup.push(() => gate.close());
      const started = performance.now();
      const answer = await fetch(`${gate.url}${path}?secret`);
      expect(answer.status).toBe(504);
      expect(await answer.text()).not.toMatch(/127\.0\.0\.1|secret/);
      const took = performance.now() - started;
      expect(took).toBeGreaterThan(600);
      expect(took).toBeLessThan(5_000);
      // The open breaker answers: a connection attempt would be a 504 again.
      expect((await fetch(gate.url + path)).status).toBe(503);
    },
  );

  it.each(['/api/x', '/x'])('because its name does not resolve leads to a 502 (%s)', async (path) => {
    const gate = await startGate('http://no-such-host.invalid:4000');
    cleanup.push(() => gate.close());
    const answer = await fetch(gate.url + path);
    expect([answer.status, gate.failures.map((failure) => failure.code)]).toEqual([502, ['upstream_unreachable']]);
    expect(await answer.text()).not.toContain('no-such-host');
  });
});

it.each([
  ['at once', 0],
  ['when some of it came', 200_000],
])('a 413 of an upstream that refuses an upload %s and hangs up reaches the client', async (_what, after) => {
  // It stops reading, so that its kernel resets the connection while we write.
  const upstream = createServer((socket) => {
    let read = 0;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      read += chunk.length;
      if (read < after) return;
      socket.pause().removeAllListeners('data');
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 9\r\n\r\ntoo large', () => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  cleanup.push(() => upstream.close());
  const gate = await startGate(`http://127.0.0.1:${(upstream.address() as { port: number }).port}`);
  cleanup.push(() => gate.close());
  for (let n = 0; n < 10; n += 1) {
    const client = gate.socket();
    let received = '';
    client
      .on('error', () => undefined)
      .on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
    client.write('POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n');
    for (let sent = 0; sent < 5_000_000 && received === ''; sent += 100_000) {
      client.write(Buffer.alloc(100_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => received).toMatch(/^HTTP\/1\.1 413 [\s\S]*too large$/);
    client.destroy();
  }
});

it('a stalled body is aborted after the timeout, and a stalled stream after the stream timeout', async () => {
  let head = '';
  const upstream = await startRawUpstream((socket) => void socket.write(head));
  cleanup.push(() => upstream.close());
  const gate = await startGate(upstream.url, { upstream: { timeout: 0.2, streamTimeout: 1 } });
  cleanup.push(() => gate.close());
  const took = async (type: string) => {
    head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`;
    const started = performance.now();
    const received = await gate.raw('GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(received).toMatch(/hello\r\n$/);
    return performance.now() - started;
  };
  const body = await took('text/plain');
  const stream = await took('text/event-stream');
  expect(body).toBeGreaterThan(150);
  expect(body).toBeLessThan(5000);
  expect(stream).toBeGreaterThan(950);
});

// The timeout is short: a machine that stalls for longer spoils an attempt.
it('a body that keeps arriving outlives the timeout, and so does one whose client is slow to read', {
  retry: 2,
}, async () => {
  const part = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  let parts: string[] = [];
  const answer = async (socket: Socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (const one of parts) {
      if (!socket.write(one)) await once(socket, 'drain');
      if (one.length < 100) await new Promise((resolve) => setTimeout(resolve, 60));
    }
  };
  const upstream = await startRawUpstream((socket) => void answer(socket));
  cleanup.push(() => upstream.close());
  const gate = await startGate(upstream.url, { upstream: { timeout: 0.3 } });
  cleanup.push(() => gate.close());
  const request = 'GET /api/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

  parts = [...Array.from({ length: 12 }, () => '5\r\nhello\r\n'), '0\r\n\r\n'];
  expect((await gate.raw(request)).match(/hello|\r\n0\r\n/g)).toEqual([...Array(12).fill('hello'), '\r\n0\r\n']);

  parts = [...Array.from({ length: 32 }, () => part), '0\r\n\r\n'];
  const client = gate.socket();
  client.pause().write(request);
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(await text(client)).toMatch(/xxx\r\n0\r\n\r\n$/);
});
