import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

/** How the gate's listener handles upgrades of protected paths, and how it determines the client address. */
let world: World;

beforeAll(async () => {
  world = await startWorld({
    profile: 'A',
    overrides: {
      listen: { trustedProxies: ['loopback'] },
      clients: { registration: { perAddressPerMinute: 2 } },
    },
  });
});
afterAll(() => world.close());

function raw(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(world.origin).port), 'localhost', () => socket.write(bytes));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', () => resolve(received));
    socket.on('close', () => resolve(received));
  });
}

const upgrade = (path: string, ...lines: string[]) =>
  [
    ...[`GET ${path} HTTP/1.1`, `Host: ${new URL(world.origin).host}`, 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...lines, '', ''],
  ].join('\r\n');

const heads = (received: string) => received.match(/HTTP\/1\.1 \d+/g);

describe('an upgrade', () => {
  it.each(['/api/v1/courses', '/api/v1/whoami', '/account/graphql'])(
    'of %s without a token is challenged on the socket, and what follows it is never read',
    async (path) => {
      const smuggled = `GET /api/v1/courses HTTP/1.1\r\nHost: ${new URL(world.origin).host}\r\n\r\n`;
      const received = await raw(upgrade(path) + smuggled);
      expect(heads(received)).toEqual(['HTTP/1.1 401']);
      expect(received.match(/^www-authenticate: Bearer .*resource_metadata=".*"/gim)).toHaveLength(1);
      expect(received).toMatch(/^cache-control: no-store/im);
      expect(received).toMatch(/^connection: close/im);
    },
  );

  it('of a protected path with an invalid token is refused', async () => {
    const received = await raw(upgrade('/api/v1/courses', 'Authorization: Bearer nonsense', 'X-Member-Id: m-1'));
    expect(heads(received)).toEqual(['HTTP/1.1 401']);
    expect(received).toContain('error="invalid_token"');
  });

  it.each(['/.well-known/oauth-authorization-server', '/api/oauth/token'])(
    'of the public endpoint %s is refused',
    async (path) => expect(heads(await raw(upgrade(path)))).toEqual(['HTTP/1.1 400']),
  );

  it.each(['/API/v1/courses', '/x/../api/v1/courses', '//api/v1/courses', '/api/v1/%63ourses/..'])(
    'of %s, another spelling of a protected path, reaches nothing',
    async (path) => expect(heads(await raw(upgrade(path)))?.[0]).toMatch(/ 40[04]$/),
  );

  it('to HTTP/2 is ignored, and the request is answered over HTTP/1.1', async () => {
    const received = await raw(
      `GET /api/v1/courses HTTP/1.1\r\nHost: ${new URL(world.origin).host}\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    );
    expect(heads(received)).toEqual(['HTTP/1.1 401']);
    expect(received).not.toContain('HTTP/1.1 101');
  });
});

describe('the gate, for a request with forwarding headers,', () => {
  const register = (from: string) =>
    rawRequest(world.origin, {
      method: 'POST',
      path: '/api/oauth/register',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
    });

  it('counts registrations by the client address that a trusted proxy names', async () => {
    const statuses: number[] = [];
    for (const from of ['203.0.113.1', '203.0.113.1', '9.9.9.9, 203.0.113.1', '203.0.113.2'])
      statuses.push((await register(from)).status);
    expect(statuses).toEqual([201, 201, 429, 201]);
  });

  it.each(['GoogleHC/1.0', 'kube-probe/1.30', 'ELB-HealthChecker/2.0'])(
    'requires a token from a health check with the user agent %s',
    async (agent) => {
      const answer = await rawRequest(world.origin, { path: '/api/v1/whoami', headers: { 'user-agent': agent } });
      expect(answer.status).toBe(401);
    },
  );

  it.each(['X-Forwarded-Uri', 'X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Prefix'])('ignores %s', async (name) => {
    const answer = await rawRequest(world.origin, { path: '/api/v1/whoami', headers: { [name]: '/' } });
    expect(answer.status).toBe(401);
  });
});
