import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { lingerAfterEarlyAnswers } from '../../src/http/linger.ts';
import { type RawSocket, rawSocket } from '../support/raw-socket.ts';

const MIB = 1024 * 1024;
const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

/** A server that answers every request before its body, and its connections. */
async function start(
  bounds = { silence: 5_000, longest: 30_000, bytes: 64 * MIB },
  answer: RequestListener = (_request, response) => void response.writeHead(401).end('no'),
): Promise<{ server: Server; port: number; inside: Socket[]; client: () => Promise<RawSocket> }> {
  const server = createServer(answer);
  lingerAfterEarlyAnswers(server, bounds);
  const inside: Socket[] = [];
  server.on('connection', (socket) => inside.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanup.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  const client = async () => {
    const opened = await rawSocket(port);
    cleanup.push(() => opened.socket.destroy());
    return opened;
  };
  return { server, port, inside, client };
}

const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';
const LARGE = `${POST}Content-Length: ${40 * MIB}\r\n\r\n`;

it.each([
  ['of known length', `Content-Length: ${8 * MIB}\r\n\r\n`, (body: string) => body],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`],
])('the response reaches a client that reads nothing before it has sent a body %s', async (_what, rest, framed) => {
  const { client } = await start();
  for (let n = 0; n < 5; n += 1) {
    const { socket, received, write, closed } = await client();
    socket.pause();
    write(POST + rest);
    for (let sent = 0; sent < 8; sent += 1) {
      await new Promise<unknown>((resolve) => socket.write(framed('x'.repeat(MIB)), 'latin1', resolve));
    }
    if (rest.startsWith('T')) write('0\r\n\r\n');
    socket.resume();
    expect(await closed).toBe('end');
    expect(received()).toMatch(/^HTTP\/1\.1 401 [\s\S]*\r\nConnection: close\r\n[\s\S]*no(\r\n0\r\n\r\n)?$/i);
  }
});

it('the client gets the response at once, and our side is closed, while it is still sending', async () => {
  const { client, inside } = await start();
  const { socket, until } = await client();
  socket.write(LARGE);
  socket.allowHalfOpen = true;
  const ended = once(socket, 'end');
  await until(/^HTTP\/1\.1 401 [\s\S]*\r\nConnection: close\r\n/i);
  await ended;
  expect(inside[0]?.destroyed).toBe(false);
});

it('the gate reads only a bounded amount after the response', async () => {
  const { client, inside } = await start({ silence: 5_000, longest: 30_000, bytes: 4 * MIB });
  const { socket, until } = await client();
  // A client that closes its side when we close ours would stop by itself.
  socket.allowHalfOpen = true;
  socket.write(LARGE);
  await until(/^HTTP\/1\.1 401 /);
  // One mebibyte at a time, so that a single check misses only little.
  let sent = 0;
  while (inside[0]?.destroyed === false && sent < 40 * MIB) {
    socket.write(Buffer.alloc(MIB));
    sent += MIB;
    await expect.poll(() => inside[0]?.destroyed || (inside[0]?.bytesRead ?? 0) >= sent, { interval: 5 }).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
  expect(inside[0]?.bytesRead).toBeGreaterThan(4 * MIB);
  expect(inside[0]?.bytesRead).toBeLessThan(8 * MIB);
});

it.each([
  ['silence', { silence: 50, longest: 60_000 }, false],
  ['a time in all, however busy it is,', { silence: 60_000, longest: 150 }, true],
])('the gate waits for %s and no longer', async (_what, bounds, busy) => {
  const { client, inside } = await start({ ...bounds, bytes: 64 * MIB });
  const { socket, until } = await client();
  socket.allowHalfOpen = true;
  socket.write(LARGE);
  await until(/^HTTP\/1\.1 401 /);
  expect(inside[0]?.destroyed).toBe(false);
  if (busy) {
    const trickle = setInterval(() => socket.write('x'), 5);
    cleanup.push(() => clearInterval(trickle));
  }
  await expect.poll(() => inside[0]?.destroyed).toBe(true);
});

it('the gate releases the connection at once when the client has closed it', async () => {
  const { client, inside } = await start();
  const { socket, until, closed } = await client();
  socket.write(LARGE);
  await until(/^HTTP\/1\.1 401 /);
  await closed;
  await expect.poll(() => inside[0]?.destroyed).toBe(true);
});

it('the connection is kept when little or nothing of the body is left', async () => {
  const { client, inside } = await start();
  const { write, until } = await client();
  for (let n = 0; n < 3; n += 1) {
    write(`${POST}Content-Length: 60000\r\n\r\n`);
    await until(new RegExp(`(401 Unauthorized[\\s\\S]*?no\\b[\\s\\S]*){${2 * n + 1}}`));
    write(`${'x'.repeat(60_000)}GET / HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(new RegExp(`(401 Unauthorized[\\s\\S]*?no\\b[\\s\\S]*){${2 * n + 2}}`));
  }
  expect(inside).toHaveLength(1);
});

it('the connection is kept when the response begins before the end of the body', async () => {
  const { client } = await start(undefined, (request, response) => {
    response.writeHead(200);
    request.on('data', (chunk) => response.write(chunk)).on('end', () => response.end());
  });
  const { write, until, closed, received } = await client();
  write(`${POST}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`);
  await until(/\r\n\r\n1\r\na\r\n$/);
  write('1\r\nb\r\n');
  await until(/1\r\nb\r\n$/);
  write('0\r\n\r\n');
  expect(await closed).toBe('end');
  expect(received()).toMatch(/1\r\nb\r\n0\r\n\r\n$/);
});
