import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepPace } from '../../src/http/pace.ts';
import { readSendQueues } from '../../src/http/send-queues.ts';

let server: Server;
let port: number;
let look: () => Promise<void>;
const clients: Socket[] = [];

beforeEach(async () => {
  // Only the tests trigger the checks; sockets use real time.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  server = createServer();
  look = keepPace(server, { stall: 60, uploadRate: 256 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  server.close();
  vi.useRealTimers();
});

/** Returns the client, and whether the server has closed its connection. */
function open(head: string): { socket: Socket; gone: () => boolean } {
  const socket = connect(port, '127.0.0.1', () => socket.write(head));
  clients.push(socket);
  let gone = false;
  socket
    .on('error', () => undefined)
    .on('close', () => {
      gone = true;
    });
  return { socket, gone: () => gone };
}

/** Lets seconds pass for the checks, with some real time in between for data in transit. */
async function pass(seconds: number): Promise<void> {
  for (let n = 0; n < seconds; n += 5) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await look();
  }
}

/** Resolves when no more data moves between a server and a client that does not read. */
async function comesToRest(inside: Socket): Promise<void> {
  const state = async () => [inside.writableLength, (await readSendQueues())?.of(inside)];
  let before: unknown[] = [];
  await vi.waitFor(
    async () => {
      const last = before;
      before = await state();
      expect(inside.writableLength).toBeGreaterThan(0);
      expect(before).toEqual(last);
    },
    { interval: 300, timeout: 15_000 },
  );
}

it('drops a client that reads nothing of its response for a minute, and not earlier', async () => {
  server.on('request', (_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024)));
  const { socket, gone } = open('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.pause();
  const [inside] = (await once(server, 'connection')) as [Socket];
  await comesToRest(inside);
  await pass(55);
  expect(inside.destroyed).toBe(false);
  await pass(10);
  expect(inside.destroyed).toBe(true);
  socket.resume();
  await expect.poll(gone).toBe(true);
});

it('keeps a client that reads from time to time', async () => {
  const chunk = Buffer.alloc(1024 * 1024);
  let inside: Socket | undefined;
  server.on('request', (_request, response) => {
    inside = response.socket ?? undefined;
    const fill = () => {
      while (response.write(chunk));
      response.once('drain', fill);
    };
    fill();
  });
  const { socket } = open('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.pause();
  await once(server, 'request');
  for (let n = 0; n < 5; n += 1) {
    await pass(50);
    // Enough that the kernel accepts more data, which it does in large pieces.
    let read = 0;
    socket.on('data', (data) => {
      read += data.length;
      if (read > 16 * 1024 * 1024) socket.pause();
    });
    socket.resume();
    await expect.poll(() => read, { timeout: 20_000 }).toBeGreaterThan(16 * 1024 * 1024);
    socket.removeAllListeners('data');
  }
  expect(inside?.destroyed).toBe(false);
});

it.skipIf(process.platform !== 'linux')(
  'keeps a client that reads ten kilobytes a second, which Node does not notice',
  async () => {
    server.on('request', (_request, response) => response.end(Buffer.alloc(64 * 1024 * 1024)));
    const { socket } = open('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    socket.pause();
    const [inside] = (await once(server, 'connection')) as [Socket];
    await expect.poll(() => inside.writableLength).toBeGreaterThan(0);
    await pass(5);
    const before = inside.writableLength;
    // The amount that such a client reads in fifty seconds, which is too little for a drain event in Node.
    for (let n = 0; n < 3; n += 1) {
      let read = 0;
      socket.on('data', (data) => {
        read += data.length;
        if (read >= 400_000) socket.pause();
      });
      socket.resume();
      await expect.poll(() => read).toBeGreaterThanOrEqual(400_000);
      socket.removeAllListeners('data').pause();
      await comesToRest(inside);
      await pass(50);
      expect(inside.destroyed).toBe(false);
    }
    expect(inside.writableLength).toBe(before);
    await pass(15);
    expect(inside.destroyed).toBe(true);
  },
);

it('ends with its server', async () => {
  expect(vi.getTimerCount()).toBe(1);
  server.close();
  await once(server, 'close');
  expect(vi.getTimerCount()).toBe(0);
});

it('keeps idle event streams', async () => {
  server.on('request', (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': hello\n\n');
  });
  const { socket, gone } = open('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
  await pass(600);
  expect(gone()).toBe(false);
});

it.each([
  ['of known length', 'Content-Length: 1000000\r\n\r\nhello', 'x'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', '1\r\nx\r\n'],
])('drops an upload %s that is too slow', async (_what, rest, drop) => {
  server.on('request', (request) => request.resume());
  const { socket, gone } = open(`POST / HTTP/1.1\r\nHost: a\r\n${rest}`);
  await once(server, 'request');
  await pass(5);
  socket.write(drop);
  await pass(5);
  await expect.poll(gone).toBe(true);
});

it('keeps an upload that is fast enough, one that we paused, and one that is not being read', async () => {
  server.on('request', (request) => {
    if (request.url === '/fast') request.resume();
    if (request.url === '/paused') request.on('data', () => request.pause());
  });
  const head = (path: string) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nhello`;
  const fast = open(head('/fast'));
  await once(server, 'request');
  const paused = open(head('/paused'));
  await once(server, 'request');
  const unread = open(head('/unread'));
  await once(server, 'request');
  for (let n = 0; n < 10; n += 1) {
    fast.socket.write(Buffer.alloc(2_700));
    await new Promise((resolve) => setTimeout(resolve, 10));
    await pass(10);
  }
  expect([fast.gone(), paused.gone(), unread.gone()]).toEqual([false, false, false]);
});
