import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valuesOf } from '../support/strict-http.ts';
import { freePort } from '../support/world.ts';
import { haproxy } from './kinds/haproxy.ts';
import { ask, send } from './support/ask.ts';
import { flawsOf } from './support/backend-view.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { isInstalled } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';

describe.skipIf(!isInstalled(haproxy))('HAProxy', () => {
  let world: PluginWorld;
  let gateway: RunningGateway;
  let overHttp2: number;
  let token: string;
  beforeAll(async () => {
    world = await startPluginWorld();
    overHttp2 = await freePort();
    const bind = `$&\n    bind 127.0.0.1:${overHttp2} proto h2`;
    gateway = await world.gateway(haproxy, { change: (snippet) => snippet.replace(/^ {4}bind .*/m, bind) });
    token = (await world.connect('m-1')).access_token;
    world.backend.take();
  });
  afterAll(async () => {
    await gateway?.close();
    await world?.close();
  });

  /** Sends a request over HTTP/2, where HAProxy makes the target of `:scheme`, `:authority` and `:path`. */
  const askOverHttp2 = async (path: string, fields: Record<string, string> = {}) => {
    const session = connect(`http://127.0.0.1:${overHttp2}`);
    try {
      const stream = session.request({ ':authority': world.host, ':path': path, ...fields });
      return await new Promise<{ status: number; challenge: string; body: string }>((resolve, reject) => {
        let body = '';
        let head: Record<string, unknown> = {};
        stream.setEncoding('utf8').on('response', (fields) => {
          head = fields;
        });
        stream.on('data', (text: string) => {
          body += text;
        });
        stream.on('error', reject);
        stream.on('end', () =>
          resolve({ status: Number(head[':status']), challenge: String(head['www-authenticate'] ?? ''), body }),
        );
      });
    } finally {
      session.close(() => undefined);
    }
  };

  it('judges and forwards the path and query of a request over HTTP/2', async () => {
    const answer = await askOverHttp2('/member/x?a=%2F', { authorization: `Bearer ${token}` });
    expect([answer.status, answer.body]).toEqual([200, 'ok']);
    const seen = world.backend.take();
    expect(seen.map(({ method, target }) => [method, target])).toEqual([['GET', '/member/x?a=%2F']]);
    expect(seen.flatMap((request) => flawsOf(request, world.origin, ['m-1']))).toEqual([]);
  });

  it.each([
    ['no token', '/member/x', {}, 401],
    ['another authority', '/member/x', { ':authority': 'evil.test' }, 400],
    ['dot segments', '/public/../member/x', {}, 400],
    ['an encoded letter, which coursegate decodes,', '/%6dember/x', {}, 401],
    ['a double slash', '//member/x', {}, 400],
  ])('refuses %s over HTTP/2', async (_what, path, fields, status) => {
    const answer = await askOverHttp2(path, fields);
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.challenge).toContain('Bearer');
    expect(() => JSON.parse(answer.body)).not.toThrow();
    expect(world.backend.take()).toEqual([]);
  });

  it('takes the absolute form of its own address, and forwards the path', async () => {
    const fields = [`Authorization: Bearer ${token}`];
    const { status } = await ask(world.port, { target: `${world.origin}/member/x?y`, host: world.host, fields });
    expect(status).toBe(200);
    expect(world.backend.take().map(({ target }) => target)).toEqual(['/member/x?y']);
    for (const target of ['http://evil.test/member/x', `http://x@${world.host}/member/x`]) {
      const bytes = `GET ${target} HTTP/1.1\r\nHost: ${world.host}\r\nConnection: close\r\n${fields[0]}\r\n\r\n`;
      expect(await send(world.port, bytes, 2_000)).toMatch(/^HTTP\/1\.1 400 /);
      expect(world.backend.take()).toEqual([]);
    }
  });

  it('refuses a body that is too large before it is sent', async () => {
    const head = [
      'POST /member/x HTTP/1.1',
      `Host: ${world.host}`,
      'Connection: close',
      `Authorization: Bearer ${token}`,
    ];
    const bytes = [...head, 'Content-Type: application/json', 'Content-Length: 10485761', '', ''].join('\r\n');
    const answer = await send(world.port, bytes, 2_000);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"payload_too_large"');
    expect(world.backend.take()).toEqual([]);
  });

  it('asks about whatever a line of the operator’s sends to a protected backend', async () => {
    const port = await freePort();
    const line = '    use_backend coursegate_to_back if { path_beg /pages/ }\n';
    const changed = await world.gateway(haproxy, {
      port,
      change: (snippet) => snippet.replace(/^ {4}use_backend /m, `${line}$&`),
    });
    try {
      for (const fields of [[], [`Authorization: Bearer ${token}`]])
        expect((await ask(port, { host: world.host, target: '/pages/x', fields })).status).toBe(404);
      expect(world.backend.take()).toEqual([]);
    } finally {
      await changed.close();
    }
  });

  it('opens no WebSocket on a route', async () => {
    const fields = [`Authorization: Bearer ${token}`, 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const head = ['GET /member/x HTTP/1.1', `Host: ${world.host}`, 'Connection: Upgrade', ...fields];
    const answer = await send(
      world.port,
      `${head.join('\r\n')}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      150,
    );
    expect(answer).not.toMatch(/^HTTP\/1\.1 101 /);
    for (const { headers } of world.backend.take()) expect(valuesOf(headers, 'upgrade')).toEqual([]);
  });
});
