import { request as httpsRequest } from 'node:https';
import { hostname } from 'node:os';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../support/certificates.ts';
import { rawExchange } from '../support/raw-socket.ts';
import { freePort, startWorld, type World } from '../support/world.ts';

// With DNS rebinding, the attacker's page and the listener are one origin to a browser: only Host tells them apart.
let world: World;
let probes: string;
beforeAll(async () => {
  const port = await freePort();
  probes = `http://127.0.0.1:${port}`;
  world = await startWorld({
    profile: 'A',
    environment: { COMMAND_SECRET: 's'.repeat(40) },
    overrides: {
      listen: { probes: { host: '127.0.0.1', port } },
      admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
    },
  });
});
afterAll(() => world.close());

/** Sends each request on its own connection, because the names differ. */
const ask = (origin: string, path: string, headers: Record<string, string>, method: 'get' | 'post' = 'get') =>
  request(origin)[method](path).set(headers);

const FOREIGN = [
  ...['evil.example', 'evil.example:9090', '127.0.0.1.evil.example', 'localhost.evil.example', 'EVIL.example.'],
  ...['127.0.0.1.nip.io', 'coursegate.app', 'coursegate.default', 'svc.evil.example', 'a.svc.evil', 'x.local'],
  ...[
    'evil.example@127.0.0.1',
    '127.0.0.1:9090@evil.example',
    '[evil.example]',
    '::1',
    '127.0.0.1, evil.example',
    'a b',
  ],
];
const OWN = [
  ...[
    '127.0.0.1',
    '127.0.0.1:9090',
    'localhost',
    'LocalHost:9090',
    'localhost.',
    'gate.localhost',
    '[::1]:9090',
    '[::1]',
  ],
  ...['10.1.2.3:9091', '[fd00::1]:9091', 'coursegate:9091', 'coursegate.school.svc:9091', '0.0.0.0:9090'],
  ...['coursegate.school.svc.cluster.local', 'ip-10-0-0-1.ec2.internal', hostname()],
];

describe.each([
  ['the admin listener', () => world.admin, ['/livez', '/readyz', '/metrics', '/events', '/observed', '/nowhere']],
  ['the probes listener', () => probes, ['/livez', '/readyz', '/metrics']],
] as const)('%s', (_name, origin, paths) => {
  it.each(FOREIGN)('returns 421 for Host %s', async (host) => {
    for (const path of paths) {
      const { status, text } = await ask(origin(), path, { host });
      expect([path, status]).toEqual([path, 421]);
      expect(text).toContain('listen.admin.host');
      expect(text.length).toBeLessThan(200);
    }
  });

  it.each(OWN)('accepts Host %s', async (host) => {
    for (const path of ['/livez', '/readyz', '/metrics'])
      expect((await ask(origin(), path, { host })).status).toBe(200);
  });

  it('accepts an HTTP/1.0 probe without Host', async () => {
    const { port } = new URL(origin());
    expect(await rawExchange(Number(port), 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    [{ 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
  ])('refuses a request from another site’s page: %o', async (headers) => {
    const { status, text } = await ask(origin(), '/metrics', headers);
    expect([status, text]).toEqual([403, 'requests from web pages are refused\n']);
  });
});

it.each([
  [{ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  [{ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }],
])(
  'the admin listener accepts navigation from the address bar or a link, and same-origin subresources: %o',
  async (headers) => {
    expect((await ask(world.admin, '/metrics', headers)).status).toBe(200);
  },
);

it('commands require authentication under any host name', async () => {
  const { status } = await ask(world.admin, '/members/m-1001/revoke', { host: 'gate.school.example' }, 'post');
  expect(status).toBe(401);
  const page = { host: 'gate.school.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
  expect((await ask(world.admin, '/members/m-1001/revoke', page, 'post')).status).toBe(403);
});

it('the configured admin host name is accepted', async () => {
  const named = await startWorld({ profile: 'A', overrides: { listen: { admin: { host: 'localhost', port: 0 } } } });
  try {
    expect((await ask(named.admin, '/livez', { host: 'localhost' })).status).toBe(200);
    expect((await ask(named.admin, '/livez', { host: 'gate.school.example' })).status).toBe(421);
  } finally {
    await named.close();
  }
});

it('over TLS, only the names in the certificate are accepted', async () => {
  const [own, backends] = [createAuthority(), createAuthority()];
  const { certFile, keyFile } = own.issue('gate.school.example');
  const tls = await startWorld({
    profile: 'A',
    overrides: { admin: { mtls: { cert: certFile, key: keyFile, clientCa: backends.caFile } } },
  });
  const status = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const options = { ca: own.ca, servername: 'gate.school.example', headers: { host } };
      const asked = httpsRequest(`${tls.admin.replace(/^http:/, 'https:')}/metrics`, options, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      });
      asked.on('error', reject).end();
    });
  try {
    expect(await status('gate.school.example:9090')).toBe(200);
    expect(await status('evil.example')).toBe(421);
    expect(await status('school.example')).toBe(421);
  } finally {
    await tls.close();
    own.close();
    backends.close();
  }
});
