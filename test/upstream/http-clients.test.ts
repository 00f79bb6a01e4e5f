import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { wasStaleConnection } from '../../src/upstream/failures.ts';
import type { HttpClient } from '../../src/upstream/http-client.ts';
import { ask, CLIENTS, type ClientName, type ClientWorld, startClient, type Told } from './http-client.ts';

const MIB = 1024 * 1024;
const PIECE = 64 * 1024;

let world: ClientWorld;
let client: HttpClient;
afterEach(() => world.close());

async function start(name: ClientName, headersTimeout?: number): Promise<void> {
  world = await startClient(name, headersTimeout);
  client = world.client;
}

const ok = (body: string, fields = '') => `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;

/** The first connection is closed soon, not only because it is idle. */
async function closed(): Promise<void> {
  await expect.poll(() => world.accepted[0]?.destroyed, { timeout: 3_000, interval: 5 }).toBe(true);
}

/** Waits until a number has been the same six times in a row. */
async function settled(number: () => number): Promise<void> {
  for (let [same, before] = [0, -1]; same < 6; same = number() === before ? same + 1 : 0) {
    before = number();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Answers each request with its path and the number of its connection. */
function echo(socket: Socket, connection: number, received: string): void {
  const [, path] = /^GET (\S+)[\s\S]*\r\n\r\n$/.exec(received.slice(received.lastIndexOf('GET '))) ?? [];
  if (path !== undefined) socket.write(ok(`${path} on ${connection}`));
}

async function echoed(path: string): Promise<string> {
  return (await ask(client, path).over).body;
}

describe.each(Object.keys(CLIENTS) as ClientName[])('%s', (name) => {
  it('uses a connection again, for one request at a time', async () => {
    await start(name);
    world.serve(echo);
    expect(await echoed('/1')).toBe('/1 on 1');
    await turn();
    expect(await echoed('/2')).toBe('/2 on 1');
    await turn();
    const both = await Promise.all([echoed('/3'), echoed('/4')]);
    expect(both).toEqual(['/3 on 1', '/4 on 2']);
    expect(client.size).toBe(2);
    expect((await ask(client, '/5', { fresh: true }).over).body).toBe('/5 on 3');
  });

  it.each([
    ['in the same packet', (socket: Socket, forged: string) => void socket.write(ok('first') + forged)],
    [
      'afterwards',
      (socket: Socket, forged: string) => {
        socket.write(ok('first'));
        setTimeout(() => socket.write(forged), 20);
      },
    ],
  ])('closes a connection on which a second response arrives %s', async (_when, answer) => {
    await start(name);
    world.serve((socket) => answer(socket, ok('forged')));
    expect((await ask(client, '/first').over).body).toBe('first');
    await closed();
    world.serve(echo);
    expect(await echoed('/next')).toBe('/next on 2');
  });

  it('closes the connection after a response that arrives before the whole request was sent', async () => {
    await start(name);
    world.serve((socket) => void socket.write(ok('no')));
    const body = new Readable({ read: () => undefined });
    body.push('beginning');
    const { outcome, body: text } = await ask(client, '/', { method: 'POST', body }).over;
    expect([outcome, text]).toEqual(['complete', 'no']);
    await closed();
    expect(body.destroyed).toBe(true);
    world.serve(echo);
    expect(await echoed('/next')).toBe('/next on 2');
  });

  it('reports interim responses, drops trailers, and reads a response that arrives byte by byte', async () => {
    await start(name);
    const slowly = async (socket: Socket) => {
      const chunked = 'Transfer-Encoding: chunked\r\nX: y \t\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX-Late: z\r\n\r\n';
      for (const byte of `HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n${chunked}`) {
        socket.write(byte);
        await turn();
      }
    };
    world.serve((socket, connection, received) => {
      if (received.includes('/next ')) echo(socket, connection, received);
      else if (received.endsWith('\r\n\r\n')) void slowly(socket);
    });
    const told = await ask(client, '/').over;
    expect(told).toMatchObject({ statuses: [103, 200], body: 'hello', outcome: 'complete' });
    expect(told.fields).toEqual(['Transfer-Encoding', 'chunked', 'X', 'y']);
    await turn();
    expect(await echoed('/next')).toBe('/next on 1');
  });

  it.each([
    ['as soon as possible', (told: Told) => expect.poll(() => told.isStarted, { interval: 0 }).toBe(true)],
    ['before the response', () => expect.poll(() => world.accepted.length).toBe(1)],
  ])('closes the connection of a request that is aborted %s', async (_when, wait) => {
    await start(name);
    const told = ask(client, '/');
    await wait(told);
    const reason = new Error('gone');
    told.control.abort(reason);
    told.control.abort(new Error('again'));
    expect(await told.over).toMatchObject({ error: reason, outcome: 'upstream_unreachable', statuses: [] });
    await expect.poll(() => world.accepted.every((socket) => socket.destroyed)).toBe(true);
    await expect.poll(() => client.size).toBe(0);
    world.serve(echo);
    expect(await echoed('/next')).toMatch(/^\/next on /);
    expect(told.outcome).toBe('upstream_unreachable');
  });

  it.each(['onHead', 'onData'] as const)('aborts a request whose handler throws in %s', async (when) => {
    await start(name);
    world.serve((socket) => void socket.write(ok('hello')));
    const failure = new GatewayError('upstream_invalid');
    const told = await ask(client, '/', {
      [when]: () => {
        throw failure;
      },
    }).over;
    expect(told).toMatchObject({ error: failure, outcome: 'upstream_invalid' });
    await closed();
  });

  it('fails a request whose body fails or is not as long as it says, before the upstream has a whole one', async () => {
    await start(name);
    let received = '';
    world.serve((_socket, _connection, all) => {
      received = all;
    });
    const broken = new Readable({ read: () => undefined });
    broken.push('begin');
    const told = ask(client, '/', { method: 'POST', body: broken });
    await expect.poll(() => received).toContain('begin');
    const failure = new GatewayError('payload_too_large');
    broken.destroy(failure);
    expect(await told.over).toMatchObject({ error: failure, outcome: 'payload_too_large' });
    await closed();
    expect(received).not.toMatch(/\r\n0\r\n/);
    for (const [length, wrong] of [
      ['4', 'longer'],
      ['40', 'shorter'],
    ] as const) {
      const body = Readable.from([Buffer.from(wrong)], { objectMode: false });
      const { outcome } = await ask(client, '/', { method: 'POST', body, headers: ['Content-Length', length] }).over;
      expect(outcome).not.toBe('complete');
      await expect.poll(() => world.accepted.every((socket) => socket.destroyed)).toBe(true);
      expect(received).not.toContain('long');
    }
  });

  it('says of a lost connection whether another attempt is worth it', async () => {
    await start(name);
    world.serve((socket) => socket.resetAndDestroy());
    const onNew = await ask(client, '/new').over;
    expect(onNew.outcome).toBe('upstream_unreachable');
    world.serve((socket, connection, received) => {
      if (received.endsWith('/kept HTTP/1.1\r\n') || received.includes('/kept ')) socket.end();
      else if (received.includes('/half ')) socket.end('HTTP/1.1 2');
      else echo(socket, connection, received);
    });
    await echoed('/first');
    await turn();
    const onKept = await ask(client, '/kept').over;
    expect([onKept.outcome, wasStaleConnection(onKept.error)]).toEqual(['upstream_unreachable', true]);
    await echoed('/second');
    await turn();
    const half = await ask(client, '/half').over;
    expect([half.outcome, half.statuses]).toEqual(['upstream_unreachable', []]);
  });

  it('stops reading while its handler is paused, and completes only when it goes on', async () => {
    await start(name);
    const length = 32 * MIB;
    let sent = 0;
    const send = (socket: Socket): void => {
      while (sent < length) {
        sent += PIECE;
        if (!socket.write(Buffer.alloc(PIECE, sent / PIECE))) return;
      }
    };
    world.serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
      socket.on('drain', () => send(socket));
      send(socket);
    });
    let count = 0;
    const told = ask(client, '/', {
      onData(control, chunk, release) {
        expect(chunk[0]).toBe((Math.floor(count / PIECE) + 1) % 256);
        count += chunk.length;
        release?.();
        if (count < 100_000 || count === length) control.pause();
      },
    });
    await expect.poll(() => count).toBeGreaterThan(0);
    await settled(() => sent);
    // The rest is in the buffers of the kernel.
    expect(count).toBeLessThan(MIB);
    expect(sent).toBeLessThan(length / 2);
    while (count < length) {
      if (told.control.paused) told.control.resume();
      await turn();
    }
    expect(told.outcome).toBeUndefined();
    told.control.resume();
    expect((await told.over).outcome).toBe('complete');
  });

  it('stops reading the body of a request while the upstream does not read', async () => {
    await start(name);
    const length = 32 * MIB;
    world.serve((socket) => void socket.pause());
    let read = 0;
    const body = new Readable({
      read() {
        this.push(read < length ? Buffer.alloc(MIB) : null);
        read += MIB;
      },
    });
    const headers = ['Content-Length', String(length)];
    const told = ask(client, '/', { method: 'POST', body, headers });
    await expect.poll(() => world.accepted[0]?.isPaused()).toBe(true);
    await settled(() => read);
    expect(read).toBeLessThan(length);
    world.serve((socket, _connection, received) => {
      if (received.length > length) socket.write(ok('whole'));
    });
    world.accepted[0]?.resume();
    expect(await told.over).toMatchObject({ outcome: 'complete', body: 'whole' });
  });
});
