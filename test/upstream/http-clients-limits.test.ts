import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, CLIENTS, type ClientName, type ClientWorld, startClient } from './http-client.ts';

const KIB = 1024;

let world: ClientWorld;
afterEach(() => world.close());

const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Sends the same bytes until the connection is closed. Returns how many were accepted. */
async function endlessly(socket: Socket, bytes: string): Promise<number> {
  let sent = 0;
  while (!socket.destroyed && sent < 4 * KIB * KIB) {
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    sent += bytes.length;
    await turn();
  }
  return sent;
}

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;

describe.each(Object.keys(CLIENTS) as ClientName[])('%s', (name) => {
  it.each([
    ['an endless field value', `${HEAD}X: `, 'y'.repeat(KIB)],
    ['an endless field name', HEAD, 'y'.repeat(KIB)],
    ['endless fields', HEAD, 'A: b\r\n'.repeat(100)],
    ['an endless line that begins as a status', '', 'HTTP/1.1 '],
    ['endless trailers', `${CHUNKED}0\r\n`, 'A: b\r\n'.repeat(100)],
  ])('refuses %s', async (_what, begin, more) => {
    world = await startClient(name);
    const { promise: sent, resolve } = Promise.withResolvers<number>();
    world.serve((socket) => {
      socket.write(begin);
      resolve(endlessly(socket, more));
    });
    const told = await ask(world.client, '/').over;
    expect([told.outcome, told.body]).toEqual(['upstream_invalid', '']);
    expect(await sent).toBeLessThan(4 * KIB * KIB);
  });

  it('waits for a response only as long as its timeout says', async () => {
    world = await startClient(name, 200);
    const silent = ask(world.client, '/');
    const half = ask(world.client, '/half');
    world.serve((socket, _connection, received) => {
      if (received.includes('/half ')) socket.write('HTTP/1.1 200 OK\r\nX: ');
    });
    expect([(await silent.over).outcome, (await half.over).outcome]).toEqual(['upstream_timeout', 'upstream_timeout']);
    await expect.poll(() => world.accepted.every((socket) => socket.destroyed)).toBe(true);
  });

  it('waits only as long for an upstream that does not read, but longer for a slow client', async () => {
    world = await startClient(name, 300);
    world.serve((socket, _connection, received) => {
      if (received.includes('/stall ')) socket.pause();
      else if (received.endsWith('end')) socket.write(ok('whole'));
    });
    const endless = new Readable({ read: () => endless.push(Buffer.alloc(64 * KIB)) });
    const stall = ask(world.client, '/stall', { method: 'POST', body: endless });
    const slow = new Readable({ read: () => undefined });
    slow.push('begin');
    const headers = ['Content-Length', '8'];
    const patient = ask(world.client, '/slow', { method: 'POST', body: slow, headers });
    expect((await stall.over).outcome).toBe('upstream_timeout');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(patient.outcome).toBeUndefined();
    slow.push('end');
    slow.push(null);
    expect(await patient.over).toMatchObject({ outcome: 'complete', body: 'whole' });
  });

  it('fails what is in progress when it ends, and takes no more', async () => {
    world = await startClient(name);
    world.serve((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhell'));
    const begun = ask(world.client, '/');
    await expect.poll(() => begun.body).toBe('hell');
    await world.client.end();
    expect((await begun.over).outcome).toBe('upstream_unreachable');
    await expect.poll(() => world.accepted[0]?.destroyed).toBe(true);
    expect(world.client.size).toBe(0);
  });

  it('never uses the memory of a chunk again before it is released', async () => {
    world = await startClient(name);
    const length = 2_048 * KIB;
    // Every four bytes are others.
    const sent = Buffer.from(Uint32Array.from({ length: length / 4 }, (_, n) => n).buffer);
    world.serve((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`);
      socket.write(sent);
    });
    const wholeBody = async (path: string) => {
      const held: { chunk: Buffer; copy: Buffer; release: (() => void) | undefined }[] = [];
      const letGo = ({ chunk, copy, release }: (typeof held)[number]) => {
        expect(chunk.equals(copy)).toBe(true);
        release?.();
        // Once more has no effect.
        release?.();
      };
      let count = 0;
      const told = ask(world.client, path, {
        onData(_control, chunk, release) {
          expect(chunk.equals(sent.subarray(count, count + chunk.length))).toBe(true);
          count += chunk.length;
          held.push({ chunk, copy: Buffer.from(chunk), release });
          // As a slow client does: some chunks are held while later ones arrive.
          if (held.length > 5) letGo(held.shift() as (typeof held)[number]);
        },
      });
      await told.over;
      for (const one of held) letGo(one);
      return [told.outcome, count];
    };
    const expected = ['complete', length];
    expect(await Promise.all(['/1', '/2', '/3'].map(wholeBody))).toEqual([expected, expected, expected]);
  });
});

describe('our own client', () => {
  it('refuses a size with very many zeros', async () => {
    world = await startClient('our own client');
    world.serve((socket) => void socket.write(`${CHUNKED}${'0'.repeat(14)}`));
    expect((await ask(world.client, '/').over).outcome).toBe('upstream_invalid');
  });

  it('refuses endless extensions of chunks', async () => {
    world = await startClient('our own client');
    const { promise: sent, resolve } = Promise.withResolvers<number>();
    world.serve((socket) => {
      socket.write(CHUNKED);
      resolve(endlessly(socket, `1;${'x'.repeat(500)}\r\ny\r\n`));
    });
    const told = await ask(world.client, '/').over;
    expect([told.outcome, told.body]).toEqual(['upstream_invalid', 'y'.repeat(32)]);
    expect(await sent).toBeLessThan(4 * KIB * KIB);
  });

  it('makes no promise, timer or asynchronous context for a response', async () => {
    world = await startClient('our own client');
    world.serve((socket) => void socket.write(ok('hello')));
    const made = new Map<string, number>();
    const hook = createHook({ init: (_id, type) => void made.set(type, (made.get(type) ?? 0) + 1) });
    const count = 1_000;
    const warm = 20;
    let done = 0;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    // The test makes no promise of its own meanwhile: the end of one request begins the next.
    const next = (): void => {
      done += 1;
      if (done === warm) hook.enable();
      if (done < warm + count) setImmediate(send);
      else {
        hook.disable();
        resolve();
      }
    };
    const handler = {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: next,
      onResponseError: next,
    };
    const request = { method: 'GET', path: '/', servername: '', headers: ['Host', 'upstream.test'], body: null };
    const send = (): void => void world.client.send(request, handler, false);
    send();
    await over;
    expect(world.accepted.length).toBe(1);
    expect(made.get('Immediate')).toBeGreaterThanOrEqual(count);
    // Vitest makes some meanwhile.
    for (const type of ['PROMISE', 'Timeout', 'AsyncResource', 'TCPWRAP']) {
      expect(made.get(type) ?? 0, type).toBeLessThan(count / 2);
    }
  });
});
