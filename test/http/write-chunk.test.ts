import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { writeChunk } from '../../src/http/write-chunk.ts';
import { type RawSocket, rawSocket } from '../support/raw-socket.ts';

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanup.splice(0).reverse()) await step();
});

/** The port of a server that answers every request like this. */
async function serverOf(answer: RequestListener, clientError?: (error: Error) => void): Promise<number> {
  const server = createServer(answer);
  if (clientError !== undefined) server.on('clientError', clientError);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanup.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function clientOf(...parameters: Parameters<typeof serverOf>): Promise<RawSocket> {
  const client = await rawSocket(await serverOf(...parameters));
  cleanup.push(() => client.socket.destroy());
  return client;
}

/** Everything after the head. */
function bodyOf(received: string): string {
  return received.slice(received.indexOf('\r\n\r\n') + 4);
}

const bytes = (length: number) => Buffer.alloc(length, 'x');
const CLOSE = 'Host: a\r\nConnection: close\r\n\r\n';

describe('a chunk', () => {
  it('of any size is framed once, and an empty one does not end the body', async () => {
    const sizes = [1, 15, 16, 17, 0, 255, 4096, 16_383, 16_384, 16_385, 100_000, 3];
    const { write, received, closed } = await clientOf(async (_request, response) => {
      response.flushHeaders();
      for (const size of sizes) {
        if (!writeChunk(response, bytes(size))) await once(response, 'drain');
        await setImmediate();
      }
      response.end();
    });
    write(`GET / HTTP/1.1\r\n${CLOSE}`);
    await closed;
    expect(received()).toMatch(/\r\nTransfer-Encoding: chunked\r\n/i);
    const expected = sizes.filter(Boolean).map((size) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
    expect(bodyOf(received())).toBe(`${expected.join('')}0\r\n\r\n`);
  });

  it('leaves with the others of its turn, in order, whether or not it is short', async () => {
    const waiting: number[] = [];
    const { write, received, closed } = await clientOf(async (_request, response) => {
      response.flushHeaders();
      await setImmediate();
      for (const text of ['a', 'b'.repeat(20_000), 'c', 'd']) {
        writeChunk(response, Buffer.from(text));
        waiting.push(response.writableLength);
      }
      await setImmediate();
      waiting.push(response.writableLength);
      response.end();
    });
    write(`GET / HTTP/1.1\r\n${CLOSE}`);
    await closed;
    expect(waiting).toEqual([6, 20_014, 20_020, 20_026, 0]);
    expect(bodyOf(received())).toBe(`1\r\na\r\n4e20\r\n${'b'.repeat(20_000)}\r\n1\r\nc\r\n1\r\nd\r\n0\r\n\r\n`);
  });

  it('of one stream does not wait for those of a hundred others', async () => {
    const all: ServerResponse[] = [];
    const server = await serverOf((_request, response) => {
      response.flushHeaders();
      all.push(response);
    });
    const clients = await Promise.all(Array.from({ length: 100 }, () => rawSocket(server)));
    for (const { write } of clients) write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => all).toHaveLength(100);
    for (const response of all) writeChunk(response, bytes(3));
    const waiting = () => all.filter(({ writableLength }) => writableLength > 0).length;
    expect(waiting()).toBeLessThan(100);
    await setImmediate();
    expect(waiting()).toBe(0);
    await expect.poll(() => clients.filter(({ received }) => received().endsWith('3\r\nxxx\r\n'))).toHaveLength(100);
    for (const { socket } of clients) socket.destroy();
  });

  it('goes to the socket in one piece', async () => {
    const pieces: number[] = [];
    const { write, closed } = await clientOf(async (_request, response) => {
      response.flushHeaders();
      await setImmediate();
      const { socket } = response;
      const put = socket?.write;
      if (socket !== null) {
        socket.write = (...parameters: [string | Uint8Array]) => {
          pieces.push(parameters[0].length);
          return put?.apply(socket, parameters as never) ?? false;
        };
      }
      writeChunk(response, bytes(10));
      await setImmediate();
      response.end();
    });
    write(`GET / HTTP/1.1\r\n${CLOSE}`);
    await closed;
    expect(pieces[0]).toBe(15);
  });

  it('for a client that does not read waits, and `drain` follows when it does', async () => {
    let written = 0;
    let stalled = false;
    const { socket, write, received, closed } = await clientOf(async (_request, response) => {
      response.flushHeaders();
      while (writeChunk(response, bytes(1000))) {
        written += 1;
        await setImmediate();
      }
      stalled = true;
      await once(response, 'drain');
      response.end();
    });
    socket.pause();
    write(`GET / HTTP/1.1\r\n${CLOSE}`);
    await expect.poll(() => stalled, { timeout: 20_000 }).toBe(true);
    socket.resume();
    await closed;
    expect(bodyOf(received())).toBe(`${`3e8\r\n${'x'.repeat(1000)}\r\n`.repeat(written + 1)}0\r\n\r\n`);
  });
});

describe('no chunk follows', () => {
  it.each([
    ['a HEAD request', `HEAD / HTTP/1.1\r\n${CLOSE}`, 200, ''],
    ['a HEAD request, with a coding that the handler set', `HEAD /coded HTTP/1.1\r\n${CLOSE}`, 200, ''],
    ['204', `GET / HTTP/1.1\r\n${CLOSE}`, 204, ''],
    ['304', `GET /coded HTTP/1.1\r\n${CLOSE}`, 304, ''],
    ['a request of HTTP/1.0, which gets the data alone', 'GET / HTTP/1.0\r\n\r\n', 200, 'xxx'],
  ])('%s', async (_what, request, status, body) => {
    const { write, received, closed } = await clientOf(({ url }, response) => {
      response.writeHead(status, url === '/coded' ? { 'transfer-encoding': 'chunked' } : {});
      response.flushHeaders();
      writeChunk(response, bytes(3));
      response.end();
    });
    write(request);
    await closed;
    expect(bodyOf(received())).toBe(body);
  });

  it('a Content-Length, which gets the data alone', async () => {
    const { write, received, closed } = await clientOf((_request, response) => {
      response.writeHead(200, { 'content-length': 3 });
      response.flushHeaders();
      writeChunk(response, bytes(3));
      response.end();
    });
    write(`GET / HTTP/1.1\r\n${CLOSE}`);
    await closed;
    expect(bodyOf(received())).toBe('xxx');
  });

  it('the end of the body, where it would be read as the next response', async () => {
    const { write, received } = await clientOf((_request, response) => {
      response.on('error', () => undefined).flushHeaders();
      response.end();
      writeChunk(response, bytes(3));
    });
    write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(received).toMatch(/\r\n\r\n0\r\n\r\n/);
    write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => received().match(/HTTP\/1\.1 200/g)?.length).toBe(2);
    expect(received()).not.toContain('xxx');
  });
});

it('a chunk after what the response itself holds back keeps its place', async () => {
  const { write, received, closed } = await clientOf((_request, response) => {
    response.flushHeaders();
    response.cork();
    response.write('a');
    writeChunk(response, Buffer.from('b'));
    response.uncork();
    response.end();
  });
  write(`GET / HTTP/1.1\r\n${CLOSE}`);
  await closed;
  expect(bodyOf(received())).toBe('2\r\nab\r\n0\r\n\r\n');
});

it('a chunk for a socket whose side was closed is dropped, and not reported as an error of the client', async () => {
  const errors: Error[] = [];
  const { write, received, closed } = await clientOf(
    (_request, response) => {
      response.flushHeaders();
      writeChunk(response, Buffer.from('a'));
      response.socket?.end();
      writeChunk(response, Buffer.from('b'));
    },
    (error) => errors.push(error),
  );
  write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await closed;
  expect([bodyOf(received()), errors]).toEqual(['1\r\na\r\n', []]);
});

it('chunks of a pipelined response follow the response before it', async () => {
  const { write, received } = await clientOf(async ({ url }, response) => {
    response.flushHeaders();
    writeChunk(response, Buffer.from(`${url}a`));
    await setImmediate();
    writeChunk(response, Buffer.from(`${url}b`));
    await new Promise((resolve) => setTimeout(resolve, url === '/1' ? 50 : 0));
    writeChunk(response, Buffer.from(`${url}c`));
    response.end();
  });
  write('GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
  const bodies = () => received().match(/\/\d[abc]|\r\n0\r\n/g);
  await expect.poll(bodies).toHaveLength(8);
  expect(bodies()).toEqual(['/1a', '/1b', '/1c', '\r\n0\r\n', '/2a', '/2b', '/2c', '\r\n0\r\n']);
});
