import { connect as connectTo, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** A client that sends a request head and waits for 100 before it sends the body (RFC 9110 section 10.1.1). */
class PatientClient {
  received = '';
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  constructor(origin: string, head: string) {
    const { hostname, port } = new URL(origin);
    this.#socket = connectTo(Number(port), hostname, () => this.#socket.write(head));
    this.#socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
    });
    this.closed = new Promise((resolve) => this.#socket.on('error', () => undefined).on('close', () => resolve()));
  }

  send(body: string): void {
    this.#socket.write(body);
  }
}

describe('Expect: 100-continue', () => {
  let world: World;
  let upstream: RecordingUpstream;
  let token: string;
  beforeAll(async () => {
    upstream = await startRecordingUpstream();
    world = await startWorld({
      profile: 'A',
      environment: {
        COURSEGATE__UPSTREAMS__SLOW__URL: upstream.url,
        COURSEGATE__UPSTREAMS__GONE__URL: 'http://127.0.0.1:1',
      },
      overrides: {
        routes: [
          { match: 'POST /api/v1/courses', upstream: 'slow', scopes: ['courses:write'], bodyLimit: '16KiB' },
          { match: 'POST /api/v1/orders', upstream: 'slow', scopes: ['orders:read'] },
          { match: 'POST /api/v1/gone', upstream: 'gone', scopes: ['courses:write'] },
        ],
      },
    });
    token = (await connect(await registerApp(world.origin), { parameters: { scope: 'openid courses:write' } }))
      .access_token;
  });
  afterAll(async () => {
    await world.close();
    await upstream.close();
  });

  const ask = (path: string, fields: string) =>
    new PatientClient(
      world.origin,
      `POST ${path} HTTP/1.1\r\nHost: ${new URL(world.origin).host}\r\nExpect: 100-continue\r\n${fields}\r\n`,
    );
  const mine = () => `Authorization: Bearer ${token}\r\n`;

  it('is answered with 100 once the request is admitted, and then the body is forwarded', async () => {
    upstream.script(answerOk);
    const client = ask('/api/v1/courses', `${mine()}Content-Length: 5\r\n`);
    await expect.poll(() => client.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('hello');
    await client.closed;
    expect(client.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\{"ok":true\}/);
    expect([upstream.last().body.toString(), upstream.last().values('expect')]).toEqual(['hello', []]);
  });

  it.each([
    ['no token', '/api/v1/courses', () => 'Content-Length: 5\r\n', 401],
    ['too little scope', '/api/v1/orders', () => `${mine()}Content-Length: 5\r\n`, 403],
    ['a body that is too large', '/api/v1/courses', () => `${mine()}Content-Length: 16385\r\n`, 413],
    ['an unreachable upstream', '/api/v1/gone', () => `${mine()}Content-Length: 5\r\n`, 502],
    ['an unknown path', '/api/v1/../x', () => 'Content-Length: 5\r\n', 400],
  ])('with %s is answered at once, without asking for the body', async (_what, path, fields, status) => {
    const before = upstream.requests.length;
    const client = ask(path, fields());
    await client.closed;
    expect(client.received.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(client.received).not.toContain('100 Continue');
    expect(client.received).toMatch(/\r\nconnection: close\r\n/i);
    expect(upstream.requests).toHaveLength(before);
  });

  it('works at the gate’s own endpoints and at the site', async () => {
    const form = 'token=nothing&client_id=nobody';
    const revoke = ask(
      '/api/oauth/revoke',
      `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n`,
    );
    await expect.poll(() => revoke.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    revoke.send(form);
    await revoke.closed;
    expect(revoke.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 4/);

    const login = ask('/login', 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n');
    await expect.poll(() => login.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    login.send('login=x');
    await login.closed;
    expect(login.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 [234]/);
  });

  it('is the only supported expectation', async () => {
    const before = upstream.requests.length;
    const { host } = new URL(world.origin);
    const client = new PatientClient(
      world.origin,
      `POST /api/v1/courses HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nExpect: something-else\r\n\r\n`,
    );
    await client.closed;
    expect(client.received).toMatch(/^HTTP\/1\.1 417 /);
    expect(upstream.requests).toHaveLength(before);
  });
});
