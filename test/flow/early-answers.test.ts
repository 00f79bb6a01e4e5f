import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

const MIB = 1024 * 1024;

describe('a response sent before the end of an upload', () => {
  let upstream: RecordingUpstream;
  let gate: ProxyWorld;
  let strict: ProxyWorld;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    gate = await startProxyWorld({
      upstream: upstream.url,
      config: {
        limits: { requestBody: '1MiB' },
        scopes: { 'courses:read': { title: 'Read' }, 'courses:write': { title: 'Write' } },
        routes: [
          { match: '* /member/**', upstream: 'back', scopes: ['courses:read'] },
          { match: '* /writing/**', upstream: 'back', scopes: ['courses:write'] },
          { match: '* /free/**', upstream: 'back', scopes: ['courses:read'], bodyLimit: 'unlimited' },
        ],
      },
    });
    const rare = { requests: 1, per: '1h' };
    strict = await startProxyWorld({ upstream: upstream.url, config: { limits: { member: rare } } });
  });
  afterAll(async () => {
    await gate.close();
    await strict.close();
    await upstream.close();
  });

  /**
   * Sends 8 MiB and, like many clients, reads nothing until all of it has been sent. Returns the bytes of the response.
   */
  async function blindly(world: ProxyWorld, path: string, authorization: string, framing: string): Promise<string> {
    const { socket, received, write, closed } = await world.socket();
    socket.pause();
    const chunked = framing.startsWith('T');
    const piece = Buffer.alloc(MIB, 'x');
    write(`POST ${path} HTTP/1.1\r\nHost: ${world.host}\r\n${authorization}${framing}\r\n\r\n`);
    for (let sent = 0; sent < 8; sent += 1) {
      if (chunked) write('100000\r\n');
      await new Promise<unknown>((resolve) => socket.write(piece, resolve));
      if (chunked) write('\r\n');
    }
    if (chunked) write('0\r\n\r\n');
    socket.resume();
    expect(await closed).toBe('end');
    return received();
  }

  const LENGTH = `Content-Length: ${8 * MIB}`;
  const CHUNKED = 'Transfer-Encoding: chunked';
  const bearer = (world: ProxyWorld) => `Authorization: Bearer ${world.token}\r\n`;

  it.each([LENGTH, CHUNKED])(
    'from the gate reaches a client that sends everything before it reads (%s)',
    async (framing) => {
      const asked = upstream.requests.length;
      expect(await blindly(gate, '/member/x', '', framing)).toMatch(
        /^HTTP\/1\.1 401 [\s\S]*\r\nConnection: close\r\n/i,
      );
      expect(await blindly(gate, '/writing/x', bearer(gate), framing)).toMatch(/^HTTP\/1\.1 403 /);
      expect(upstream.requests).toHaveLength(asked);
      expect(await blindly(gate, '/member/x', bearer(gate), framing)).toMatch(/^HTTP\/1\.1 413 /);
      await strict.raw(`GET /member/x HTTP/1.1\r\nHost: ${strict.host}\r\n${bearer(strict)}Connection: close\r\n\r\n`);
      expect(await blindly(strict, '/member/x', bearer(strict), framing)).toMatch(/^HTTP\/1\.1 429 /);
    },
  );

  it.each([
    ['token_endpoint', 'Content-Type: application/x-www-form-urlencoded\r\n'],
    ['registration_endpoint', 'Content-Type: application/json\r\n'],
  ])('from the %s, which reads its body itself, reaches such a client too', async (name, type) => {
    const metadata = await (await fetch(`${gate.origin}/.well-known/oauth-authorization-server`)).json();
    const { pathname } = new URL((metadata as Record<string, string>)[name] ?? '');
    for (const framing of [LENGTH, CHUNKED]) {
      expect(await blindly(gate, pathname, type, framing)).toMatch(/^HTTP\/1\.1 413 /);
    }
  });

  it.each(['/free/x', '/site'])(
    'from the upstream at %s reaches such a client, and an endless upload is cut off',
    async (path) => {
      upstream.script((_request, response) => void response.writeHead(413).end('too large'));
      for (const framing of [LENGTH, CHUNKED]) {
        const answer = await blindly(gate, path, bearer(gate), framing);
        expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n[\s\S]*too large/i);
      }
      // A client that never stops sending is cut off.
      const { socket, write, until, closed } = await gate.socket();
      write(`POST ${path} HTTP/1.1\r\nHost: ${gate.host}\r\n${bearer(gate)}Content-Length: ${10_000 * MIB}\r\n\r\n`);
      socket.allowHalfOpen = true;
      const piece = Buffer.alloc(MIB);
      let sent = 0;
      const send = () => {
        while (socket.writable && socket.write(piece)) sent += MIB;
      };
      socket.on('drain', send);
      send();
      await until(/^HTTP\/1\.1 413 /);
      await closed;
      expect(sent).toBeLessThan(1_000 * MIB);
      upstream.script(answerOk);
    },
  );

  it('closes the connection, so that no request hidden behind the body is served', async () => {
    const asked = upstream.requests.length;
    const hidden = `GET /member/hidden HTTP/1.1\r\nHost: ${gate.host}\r\n${bearer(gate)}\r\n`;
    const { write, until, closed, received } = await gate.socket();
    write(`POST /member/x HTTP/1.1\r\nHost: ${gate.host}\r\nContent-Length: 200000\r\n\r\n`);
    await until(/^HTTP\/1\.1 401 /);
    write('x'.repeat(200_000) + hidden + hidden);
    await closed;
    expect(received().match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(upstream.requests).toHaveLength(asked);
  });

  it('keeps the connection of a client that sends a small body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (let n = 0; n < 3; n += 1) {
      const sent = httpRequest(`${gate.origin}/member/x`, { method: 'POST', agent });
      const status = await new Promise((resolve) => {
        sent.on('socket', (socket) => socket.once('connect', () => ports.add(socket.localPort)));
        sent.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
        sent.end('{"title":"small"}');
      });
      expect(status).toBe(401);
    }
    expect(ports.size).toBe(1);
    agent.destroy();
  });
});
