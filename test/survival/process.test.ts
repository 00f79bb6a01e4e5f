import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

/** Throws an uncaught exception on a signal, to simulate an unknown bug. */
const PLANTED = `data:text/javascript,${encodeURIComponent(
  "process.on('SIGUSR2', () => { throw new Error('planted') }).on('SIGWINCH', () => Promise.reject(new Error('planted')))",
)}`;

let upstream: RecordingUpstream;
let gate: ProxyWorld;
let exited: unknown;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startProxyWorld({ upstream: upstream.url, process: {} });
  void gate.process?.exited.then((code) => {
    exited = code;
  });
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

/** Checks that the same process is healthy and serves its admin port and both lanes. */
async function alive(): Promise<void> {
  expect(exited).toBeUndefined();
  expect((await fetch(`${gate.admin}/livez`)).status).toBe(200);
  for (const path of ['/public/ok', '/ok']) expect((await fetch(gate.origin + path)).status).toBe(200);
  expect(gate.log()).not.toMatch(/uncaught failure|Unhandled|Uncaught/);
}

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

describe('the process survives', () => {
  afterEach(() => upstream.script(answerOk));

  it.each([
    ['an upgrade on a path without one', `GET /member/x HTTP/1.1\r\nHost: HOST\r\n${UPGRADE}\r\n`],
    ['an upgrade to the site', `GET /x HTTP/1.1\r\nHost: HOST\r\n${UPGRADE}\r\n`],
    ['an upgrade with an ambiguous host', `GET /x HTTP/1.1\r\nHost: a/b\r\n${UPGRADE}\r\n`],
    ['an upgrade with an ambiguous path', `GET //x HTTP/1.1\r\nHost: HOST\r\n${UPGRADE}\r\n`],
    [
      'a request followed by an upgrade',
      `GET /public/x HTTP/1.1\r\nHost: HOST\r\n\r\nGET /x HTTP/1.1\r\nHost: HOST\r\nOrigin: http://evil.test\r\n${UPGRADE}\r\n`,
    ],
    ['a CONNECT', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n'],
    ['a request with Trailer', 'GET /public/x HTTP/1.1\r\nHost: HOST\r\nTrailer: x\r\n\r\n'],
    ['half a head', 'GET /public/x HTTP/1.1\r\nHost: HO'],
    ['half a body', 'POST /public/x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nhalf'],
    ['half a chunk', 'POST /x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf'],
    ['a broken chunk', 'POST /x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n'],
    ['a sign-in', 'GET /oauth/authorize?client_id=x HTTP/1.1\r\nHost: HOST\r\n\r\n'],
    ['half a registration', 'POST /api/oauth/register HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\n{"a"'],
  ])('%s, with a reset at once or after the first response', async (_what, bytes) => {
    const text = bytes.replaceAll('HOST', gate.host);
    for (let round = 0; round < 10; round += 1) {
      const [soon, late] = await Promise.all([gate.socket(), gate.socket()]);
      soon.write(text);
      soon.socket.resetAndDestroy();
      late.write(text);
      // Some get a response, and for others the gate keeps waiting.
      await Promise.race([late.closed, late.until(/\r\n\r\n/).catch(() => undefined), pause(20)]);
      late.socket.resetAndDestroy();
    }
    await alive();
  });

  it('an upgrade behind a pending response, and closes that connection', async () => {
    let answer = () => {};
    upstream.script((_request, response) => {
      answer = () => void response.end('late');
    });
    const connection = await gate.socket();
    connection.write(`GET /public/x HTTP/1.1\r\nHost: ${gate.host}\r\n\r\n`);
    connection.write(`GET /public/x HTTP/1.1\r\nHost: ${gate.host}\r\n${UPGRADE}\r\n`);
    await connection.closed;
    expect(connection.received()).toBe('');
    answer();
    upstream.script(answerOk);
    await alive();
  });

  it('a refused upgrade whose client does not close, and closes that connection', async () => {
    for (const path of ['/member/x', '//x', '/ws']) {
      const connection = await gate.socket();
      connection.socket.allowHalfOpen = true;
      connection.write(`GET ${path} HTTP/1.1\r\nHost: ${gate.host}\r\nOrigin: http://evil.test\r\n${UPGRADE}\r\n`);
      await once(connection.socket, 'end');
      // If the gate kept it half open, it would accept these bytes; if the gate has closed it, it responds with a reset.
      const drip = setInterval(() => connection.write('x'), 5);
      expect(await connection.closed).toMatch(/ECONNRESET|EPIPE/);
      clearInterval(drip);
    }
    await alive();
  });
});

describe('an uncaught error', () => {
  it.each(['SIGUSR2', 'SIGWINCH'] as const)(
    'lets requests in progress finish, accepts no more, and exits 1 (%s)',
    async (signal) => {
      const own = await startProxyWorld({ upstream: upstream.url, process: { NODE_OPTIONS: `--import=${PLANTED}` } });
      let answer = () => {};
      const arrived = new Promise<void>((resolve) => {
        upstream.script((_request, response) => {
          answer = () => void response.end('whole');
          resolve();
        });
      });
      const inFlight = fetch(`${own.origin}/public/x`).then((response) => response.text());
      await arrived;
      own.process?.signal(signal);
      await expect
        .poll(() =>
          own.socket().then(
            ({ socket }) => socket.destroy(),
            () => 'refused',
          ),
        )
        .toBe('refused');
      answer();
      expect(await inFlight).toBe('whole');
      expect(await own.process?.exited).toBe(1);
      expect(own.log()).toMatch(/planted.*uncaught failure/);
      upstream.script(answerOk);
      await own.close();
    },
  );
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
