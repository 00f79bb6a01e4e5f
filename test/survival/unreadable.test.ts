import { afterEach, describe, expect, it } from 'vitest';
import { startProxyWorld } from '../support/proxy-world.ts';
import { startRawUpstream } from '../support/recording-upstream.ts';
import { useScriptedGate } from './scripted-gate.ts';

const stand = useScriptedGate();
afterEach(() => stand.upstream.take());

const bare = (status: string, fields = '') =>
  `HTTP/1.1 ${status}\r\n${fields}Connection: close\r\nContent-Length: 0\r\n\r\n`;
const get = (path: string, fields = '') => `GET ${path} HTTP/1.1\r\nHost: ${stand.gate.host}\r\n${fields}\r\n`;

describe('an unparsable request', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n', '400 Bad Request'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', '400 Bad Request'],
    ['an unknown method', 'DEBUG / HTTP/1.1\r\nHost: a\r\n\r\n', '400 Bad Request'],
    [
      'a field that is too long',
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
    [
      'a chunk extension that is too long',
      `POST /public/x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n3;${'x'.repeat(40_000)}\r\nabc\r\n0\r\n\r\n`,
      '413 Content Too Large',
    ],
    [
      'a truncated body',
      'POST /public/x HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n',
      '400 Bad Request',
    ],
  ])('such as %s is refused with exactly these bytes', async (_what, bytes, status) => {
    expect(await stand.gate.raw(bytes.replaceAll('HOST', stand.gate.host))).toBe(bare(status));
  });

  it.each([
    ['/public', 'the protected lane'],
    ['/pages', 'the site'],
  ])('is not answered in place of an earlier request to %s, %s', async (lane) => {
    stand.upstream.script(() => undefined);
    expect(await stand.gate.raw(`${get(`${lane}/first`)}garbage\r\n\r\n`)).toBe('');
    const broken = `POST ${lane}/x HTTP/1.1\r\nHost: ${stand.gate.host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`;
    expect(await stand.gate.raw(get(`${lane}/first`) + broken)).toBe('');
    // Also not when the pending response has begun.
    stand.upstream.script((_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    });
    const connection = await stand.gate.socket();
    connection.write(get(`${lane}/second`));
    await connection.until(/hello\r\n/);
    const before = connection.received();
    connection.write('garbage\r\n\r\n');
    await connection.closed;
    expect(connection.received()).toBe(before);
    expect(before).not.toMatch(/\r\n0\r\n\r\n/);
  });

  it('is not answered within a response that has already begun', async () => {
    const early = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    });
    const own = await startProxyWorld({ upstream: early.url });
    for (const lane of ['/public', '/pages']) {
      const connection = await own.socket();
      const head = `POST ${lane}/x HTTP/1.1\r\nHost: ${own.host}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      connection.write(`${head}3\r\nabc\r\n`);
      await connection.until(/hello\r\n/);
      const before = connection.received();
      connection.write('zz\r\n');
      await connection.closed;
      expect(connection.received()).toBe(before);
    }
    await own.close();
    await early.close();
  });

  it('does not change a response that was sent before it', async () => {
    stand.upstream.script((_request, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const refused = await stand.gate.raw(`GET //x HTTP/1.1\r\nHost: ${stand.gate.host}\r\n\r\ngarbage\r\n\r\n`);
    expect(refused).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"invalid_request"[^{}]*\}$/);
    const connection = await stand.gate.socket();
    connection.write(get('/public/x'));
    await connection.until(/ok$/);
    connection.write('garbage\r\n\r\n');
    await connection.closed;
    expect(connection.received()).toMatch(
      /\r\n\r\nokHTTP\/1\.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n$/,
    );
  });
});

describe('a request without a resource', () => {
  it('by OPTIONS * gets 204', async () => {
    const answer = await stand.gate.raw(`OPTIONS * HTTP/1.1\r\nHost: ${stand.gate.host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 204 No Content\r\n/);
    expect(answer).toMatch(/\r\n\r\n$/);
    expect(stand.upstream.take()).toEqual([]);
  });

  it('by CONNECT is refused, and what follows it is never read', async () => {
    const hidden = get('/public/hidden');
    const connect = `CONNECT ${stand.gate.host} HTTP/1.1\r\nHost: ${stand.gate.host}\r\n\r\n`;
    expect(await stand.gate.raw(connect + hidden)).toBe(bare('405 Method Not Allowed', 'Allow: GET, HEAD, POST\r\n'));
    expect(await stand.gate.raw(`CONNECT a:1 HTTP/1.1\r\nHost: a/b\r\n\r\n${hidden}`)).toBe(bare('400 Bad Request'));
    stand.upstream.script(() => undefined);
    expect(await stand.gate.raw(get('/public/first') + connect + hidden)).toBe('');
    expect(stand.upstream.take().map(({ target }) => target)).not.toContain('/public/hidden');
  });
});
