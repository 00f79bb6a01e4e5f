import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { RequestsInFlight } from '../../src/http/requests-in-flight.ts';
import { drainOf } from '../../src/process/drain.ts';
import { noteEventStream } from '../../src/upstream/answer-stream.ts';
import { startWorld, type World } from '../support/world.ts';

describe('shutting down', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it('ends the WebSockets of the site instead of waiting for them forever', async () => {
    const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/ws/echo`);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await world.restart();
    await closed;
    expect((await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
  });

  it('reports readiness on the admin listener only', async () => {
    expect(await (await fetch(`${world.admin}/readyz`)).text()).toBe('ok\n');
    expect((await fetch(`${world.origin}/readyz`)).status).toBe(404);
  });
});

describe('a listener that is drained', () => {
  let server: Server;
  let drain: ReturnType<typeof drainOf>;
  let answer: RequestListener;
  beforeEach(async () => {
    const inFlight = new RequestsInFlight();
    server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => answer(request, response));
    server.prependListener('request', (request, response) => inFlight.begin(server, request, response));
    drain = drainOf(server, inFlight);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    vi.restoreAllMocks();
    server.closeAllConnections();
    server.close();
  });

  /** A connection that sends this, with what it has received. */
  const open = (sent: string) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      received += chunk;
    });
    socket.on('error', () => undefined);
    socket.write(sent);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    return { received: () => received, closed };
  };
  const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

  it('says in every response from then on that it is the last on its connection', async () => {
    answer = (_request, response) => response.end('ok');
    const before = open(get);
    await expect.poll(before.received).toContain('ok');
    expect(before.received()).toContain('Connection: keep-alive');
    const begun = Promise.withResolvers<() => void>();
    answer = (_request, response) => begun.resolve(() => response.end('ok'));
    const waiting = open(get);
    const finish = await begun.promise;
    drain.announce();
    finish();
    answer = (_request, response) => response.end('ok');
    for (const { received, closed } of [waiting, open(get)]) {
      await closed;
      expect(received()).toContain('Connection: close');
    }
  });

  it('closes idle connections, after a second those that have sent nothing, and waits for responses', async () => {
    answer = (_request, response) => response.end('ok');
    const idle = open(get);
    await expect.poll(idle.received).toContain('ok');
    const begun = Promise.withResolvers<() => void>();
    answer = (_request, response) => begun.resolve(() => response.end('late'));
    const waiting = open(get);
    const silent = open('');
    const finish = await begun.promise;
    const [set, cleared] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    const finished = drain.finish(60);
    await idle.closed;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 1000);
    await silent.closed;
    finish();
    await Promise.all([waiting.closed, finished]);
    expect(waiting.received()).toMatch(/Connection: close[\s\S]*late$/);
    // Nothing keeps the process for the rest of the minute.
    const minute = set.mock.calls.findIndex(([, wait]) => wait === 60_000);
    expect(cleared).toHaveBeenCalledWith(set.mock.results[minute]?.value);
  });

  it('ends event streams properly when its time is up, and cuts off all other responses', async () => {
    answer = (_request, response) => {
      response.writeHead(200).write('begun');
    };
    const file = open(get);
    await expect.poll(file.received).toContain('begun');
    answer = (_request, response) => {
      noteEventStream(response, []);
      response.writeHead(200).write('data: x');
    };
    const stream = open(get);
    await expect.poll(stream.received).toContain('data: x');
    await drain.finish(0.05);
    await Promise.all([file.closed, stream.closed]);
    expect(stream.received()).toMatch(/data: x\r\n0\r\n\r\n$/);
    expect(file.received()).toMatch(/begun\r\n$/);
  });
});
