import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyWorld, startProxyWorld, startSignIn } from '../support/proxy-world.ts';
import { type RawUpstream, startRawUpstream } from '../support/recording-upstream.ts';

let behave: (socket: Socket) => void = () => undefined;
let open = 0;
let upstream: RawUpstream;
let gate: ProxyWorld;

beforeAll(async () => {
  upstream = await startRawUpstream((socket) => behave(socket));
  gate = await startProxyWorld({ upstream: upstream.url, process: {}, timeout: '5s' });
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

const descriptors = () => readdirSync(`/proc/${gate.process?.pid}/fd`).length;
const head = (lane: string, method = 'GET') => `${method} ${lane}/x HTTP/1.1\r\nHost: ${gate.host}\r\n`;

const PHASES = [
  ['before the head', () => '', undefined],
  ['in the head', (lane: string) => head(lane), undefined],
  ['in the body', (lane: string) => `${head(lane, 'POST')}Content-Length: 100\r\n\r\nhalf`, undefined],
  ['while the upstream thinks', (lane: string) => `${head(lane)}\r\n`, ''],
  [
    'in the answer',
    (lane: string) => `${head(lane)}\r\n`,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n',
  ],
] as const;

describe.each(['/public', '/pages'])('B105: on the lane %s', (lane) => {
  it.each(PHASES)('1,000 clients that reset %s leave nothing open', async (_when, bytes, answer) => {
    behave = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    await fetch(`${gate.origin}${lane}/warm`);
    const before = descriptors();
    let reached = () => {};
    behave = (socket) => {
      open += 1;
      socket.once('close', () => {
        open -= 1;
      });
      if (answer !== undefined && answer !== '') socket.write(answer);
      reached();
    };
    for (let n = 0; n < 20; n += 1) {
      let arrivals = 0;
      const all = new Promise<void>((resolve) => {
        reached = () => {
          arrivals += 1;
          if (arrivals === 50) resolve();
        };
      });
      const clients = await Promise.all(Array.from({ length: 50 }, () => gate.socket()));
      for (const client of clients) client.write(bytes(lane));
      if (answer === '') await all;
      else if (answer !== undefined) await Promise.all(clients.map((client) => client.until(/hello/)));
      for (const client of clients) client.socket.resetAndDestroy();
    }
    await expect.poll(() => open, { timeout: 10_000, message: 'at the upstream' }).toBe(0);
    await expect.poll(() => descriptors() - before, { message: 'descriptors' }).toBeLessThan(5);
    behave = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    expect((await fetch(`${gate.origin}${lane}/next`)).status).toBe(200);
    const inFlight = async () => (await (await fetch(`${gate.admin}/metrics`)).text()).match(/in_flight (\d+)/)?.[1];
    await expect.poll(inFlight, { message: 'in flight' }).toBe('0');
    expect(gate.log()).not.toMatch(/uncaught failure|"internal"/);
  });
});

describe('an upload that is not sent on', () => {
  let school: Awaited<ReturnType<typeof startSignIn>>;
  let refusing: ProxyWorld;
  let held: Socket[] = [];
  beforeAll(async () => {
    school = await startSignIn();
    const upstreams = {
      school: { url: school.url },
      broken: { url: upstream.url, breaker: { failures: 1 } },
      full: { url: upstream.url, maxRequests: 1 },
    };
    const routes = ['broken', 'full'].map((name) => ({ match: `* /${name}/**`, upstream: name, anonymous: 'serve' }));
    const config = { upstreams, routes, site: { upstream: 'broken' } };
    refusing = await startProxyWorld({ upstream: upstream.url, process: {}, config });
  });
  afterAll(async () => {
    await refusing.close();
    await school.close();
  });

  it.each([
    ['the breaker of its upstream is open', '/broken/x', 'Content-Length: 200000', 'half'],
    ['the breaker of the site is open', '/pages/x', 'Transfer-Encoding: chunked', '4\r\nhalf\r\n'],
    ['its upstream is at its limit', '/full/x', 'Content-Length: 200000', 'half'],
  ])('because %s, and whose client leaves, ends nothing', async (_why, path, framing, body) => {
    held = [];
    behave = (socket) => void (path === '/full/x' ? held.push(socket) : socket.destroy());
    const first = fetch(refusing.origin + path).then(({ status }) => status);
    if (path === '/full/x') await expect.poll(() => held.length).toBe(1);
    else expect([502, 503]).toContain(await first);
    const upload = `POST ${path} HTTP/1.1\r\nHost: ${refusing.host}\r\n${framing}\r\n\r\n${body}`;
    const staying = await refusing.socket();
    staying.write(upload);
    await staying.until(/^HTTP\/1\.1 503 /);
    staying.socket.destroy();
    // The gate has to find out that they have left while it answers.
    const clients = await Promise.all(Array.from({ length: 50 }, () => refusing.socket()));
    for (const { write, socket } of clients) {
      write(upload);
      socket.resetAndDestroy();
    }
    await Promise.all(clients.map(({ closed }) => closed));
    for (const socket of held) socket.destroy();
    await first;
    expect((await fetch(`${refusing.origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
    expect(refusing.log()).not.toMatch(/uncaught failure|"internal"/);
  });
});

describe('requests that are sent ahead of another', () => {
  const inFlight = async () =>
    (await (await fetch(`${gate.admin}/metrics`)).text()).match(/requests_in_flight (\d+)/)?.[1];
  const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';

  it.each([
    ['a CONNECT', 'CONNECT', ''],
    ['a WebSocket', 'GET', `${UPGRADE}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`],
    ['an invalid WebSocket', 'GET', UPGRADE],
  ])('are over when %s takes their connection, and it closes', async (_what, method, fields) => {
    const held: Socket[] = [];
    behave = (socket) => void held.push(socket);
    const client = await gate.socket();
    const ahead = `${head('/public')}\r\n`.repeat(20);
    client.write(`${ahead}${method} /pages/x HTTP/1.1\r\nHost: ${gate.host}\r\n${fields}\r\n`);
    await client.closed;
    for (const socket of held) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    await expect.poll(inFlight).toBe('0');
    expect(client.received()).toBe('');
  });

  it('do not end the process when one of them is not for the gate to answer, and an upgrade follows', async () => {
    const client = await gate.socket();
    client.write(`${head('/public')}Expect: x\r\n\r\n${head('/member')}${UPGRADE}\r\n`);
    await client.closed;
    await expect.poll(inFlight).toBe('0');
    expect(gate.log()).not.toMatch(/uncaught failure/);
  });

  it('end with their connection when the upstream breaks off one that waits for its turn', async () => {
    const held: Socket[] = [];
    behave = (socket) => void held.push(socket);
    const client = await gate.socket();
    client.write(`${head('/public')}\r\n`);
    await expect.poll(() => held.length).toBe(1);
    client.write(`${head('/pages')}\r\n`);
    await expect.poll(() => held.length).toBe(2);
    held[1]?.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    const closed = client.closed.then(() => true);
    await new Promise((resolve) => held[1]?.once('close', resolve));
    held[0]?.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nfirst');
    client.write(`${head('/pages')}${UPGRADE}Sec-WebSocket-Key: x\r\n\r\n`);
    expect(await closed).toBe(true);
    await expect.poll(inFlight).toBe('0');
    expect(gate.log()).not.toMatch(/uncaught failure/);
  });
});
