import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { type RecordingUpstream, startRawUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

let upstream: RecordingUpstream;
let gate: TestGate;
const echo = new WebSocketServer({ noServer: true });

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url);
});
beforeEach(() => {
  upstream.onUpgrade((request, socket, head) => {
    echo.handleUpgrade(request, socket, head, (ws) => ws.on('message', (data, binary) => ws.send(data, { binary })));
  });
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

const HANDSHAKE = [
  ...[
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ],
].join('\r\n');

const refusedBy = (own: TestGate, path: string, extra = '') =>
  own.raw(`GET ${path} HTTP/1.1\r\nHost: a\r\n${HANDSHAKE}\r\n${extra}\r\n`);

it('a WebSocket echoes through the site lane, with no identity but the site’s own cookies', async () => {
  const ws = new WebSocket(`${gate.url.replace('http', 'ws')}/live?room=%61`, {
    headers: {
      'X-Member-Id': 'evil',
      X_Member_Id: 'evil',
      'X.Member.Id': 'evil',
      'X-Coursegate-Assertion': 'evil',
      'X-Forwarded-For': 'evil',
      Authorization: 'Bearer secret',
      Cookie: 'school_session=1; __Host-coursegate_member=x',
      Origin: 'http://gate.test',
    },
  });
  await once(ws, 'open');
  const large = 'x'.repeat(300_000);
  ws.send(large);
  const [message] = await once(ws, 'message');
  expect(String(message)).toBe(large);
  const seen = upstream.last();
  expect(seen.target).toBe('/live?room=%61');
  expect(seen.rawHeaders).not.toContain('evil');
  expect(seen.values('authorization')).toEqual([]);
  expect(seen.values('cookie')).toEqual(['school_session=1']);
  expect(seen.values('x-forwarded-for')).toEqual(['127.0.0.1']);
  expect(seen.values('host')).toEqual(['gate.test']);
  expect(seen.values('origin')).toEqual(['http://gate.test']);
  ws.close();
  await seen.closed;
});

it('a handshake never opens a protected path', async () => {
  const before = upstream.requests.length;
  for (const path of ['/api/x', '/open/x', '/API/x', '/x/../api/x', '//api/x'])
    expect(await refusedBy(gate, path)).toBe('');
  expect(upstream.requests.length).toBe(before);
});

it.each([
  ['another protocol', 'GET', 'Connection: Upgrade\r\nUpgrade: h2c'],
  ['another method', 'POST', HANDSHAKE],
  ['a body', 'GET', `${HANDSHAKE}\r\nContent-Length: 3`],
  ['a chunked body', 'GET', `${HANDSHAKE}\r\nTransfer-Encoding: chunked`],
])('a handshake with %s is refused', async (_what, method, headers) => {
  const before = upstream.requests.length;
  expect(await gate.raw(`${method} /live HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\nabc`)).toMatch(/^HTTP\/1\.1 400 /);
  expect(upstream.requests.length).toBe(before);
});

it.each(['https://evil.test', 'null', 'http://gate.test.evil.test'])(
  'a handshake from the origin %s is refused',
  async (origin) => {
    const before = upstream.requests.length;
    expect(await refusedBy(gate, '/live', `Origin: ${origin}\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
    expect(upstream.requests.length).toBe(before);
  },
);

it('a response other than 101 is forwarded as an ordinary response, and bytes sent early are dropped', async () => {
  const raw = await startRawUpstream((socket) => {
    socket.end(
      'HTTP/1.1 403 Nope\r\nServer: x\r\nX-Member-Id: evil\r\nSet-Cookie: a=1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n',
    );
  });
  const own = await startGate(raw.url);
  const answer = await refusedBy(own, '/live');
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(answer).toMatch(/Set-Cookie: a=1\r\n[\s\S]*Connection: close\r\n[\s\S]*\r\n\r\n2\r\nno\r\n0\r\n\r\n$/);
  expect(answer).not.toMatch(/evil|^server/im);
  const early = await own.raw(`GET /live HTTP/1.1\r\nHost: a\r\n${HANDSHAKE}\r\n\r\nEARLY`);
  expect(early).toMatch(/^HTTP\/1\.1 403 /);
  expect(raw.received.join('')).not.toContain('EARLY');
  await own.close();
  await raw.close();
});

it('the 101 is cleaned, and each end closes with the other', async () => {
  const raw = await startRawUpstream((socket) => {
    socket.write(
      'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\nServer: x\r\nX-Member-Id: evil\r\n\r\nhi',
    );
    setTimeout(() => socket.destroy(), 50);
  });
  const own = await startGate(raw.url);
  expect(await refusedBy(own, '/live')).toBe(
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\nhi',
  );
  await own.close();
  await raw.close();
});

it.each([
  ['down', undefined, 502],
  ['silent', '', 504],
  ['garbled', 'HTTP/1.1 999999\r\n\r\n', 502],
  ['agreeing to something else', 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n', undefined],
  [
    'putting a control character into the 101',
    'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX: a\x01\r\n\r\n',
    undefined,
  ],
])('a handshake with an upstream that is %s is answered on the socket', async (_what, bytes, status) => {
  const raw = await startRawUpstream((socket) => void (bytes ? socket.write(bytes, 'latin1') : undefined));
  const own = await startGate(raw.url, { timeout: 0.3 });
  if (bytes === undefined) await raw.close();
  const answer = await refusedBy(own, '/live');
  if (status === undefined) expect(answer).not.toMatch(/^HTTP\/1\.1 101 /);
  else expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  await own.close();
  await raw.close();
});

/** The time limits of the gate are short, so that no test waits for long: a machine that stalls for one spoils an attempt. */
const AGAIN = { retry: 2 };

describe('a WebSocket', AGAIN, () => {
  const IDLE = 0.3;
  const opened = async (own: TestGate) => {
    const ws = new WebSocket(`${own.url.replace('http', 'ws')}/live`);
    ws.on('error', () => undefined);
    await once(ws, 'open');
    return { ws, seen: upstream.last(), closed: once(ws, 'close').then(() => performance.now()) };
  };

  it('without traffic is closed at both ends after the timeout', async () => {
    const own = await startGate(upstream.url, { upstream: { tunnelTimeout: IDLE } });
    const began = performance.now();
    const { seen, closed } = await opened(own);
    const [ended] = await Promise.all([closed, seen.closed]);
    expect(ended - began).toBeGreaterThanOrEqual(IDLE * 1000 - 20);
    await own.close();
  });

  it.each(['the client', 'the upstream'])('on which only %s sends something now and then stays open', async (who) => {
    let fromUpstream: NodeJS.Timeout | undefined;
    upstream.onUpgrade((request, socket, head) => {
      echo.handleUpgrade(request, socket, head, (ws) => {
        if (who === 'the upstream') fromUpstream = setInterval(() => ws.send('x'), 100);
      });
    });
    const own = await startGate(upstream.url, { upstream: { tunnelTimeout: IDLE } });
    const { ws, closed } = await opened(own);
    const fromClient = who === 'the client' ? setInterval(() => ws.send('x'), 100) : undefined;
    const early = await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, IDLE * 3000, 'open'))]);
    expect(early).toBe('open');
    clearInterval(fromClient);
    clearInterval(fromUpstream);
    await closed;
    await own.close();
  });

  it('whose client has stopped reading is closed, even while the upstream sends', async () => {
    upstream.onUpgrade((_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) {}
      };
      socket.on('drain', more).on('error', () => undefined);
      more();
    });
    const own = await startGate(upstream.url, { upstream: { tunnelTimeout: IDLE } });
    const client = own.socket();
    client.on('error', () => undefined).pause();
    client.write(`GET /live HTTP/1.1\r\nHost: a\r\n${HANDSHAKE}\r\n\r\n`);
    const before = upstream.requests.length;
    await expect.poll(() => upstream.requests.length).toBe(before + 1);
    await upstream.last().closed;
    client.destroy();
    await own.close();
  });
});

it('closing the site closes its WebSockets', async () => {
  const own = await startGate(upstream.url);
  const ws = new WebSocket(`${own.url.replace('http', 'ws')}/live`);
  ws.on('error', () => undefined);
  await once(ws, 'open');
  const closed = once(ws, 'close');
  await own.close();
  await closed;
});
