import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createCallUpstream } from '../../src/upstream/call.ts';
import { createIdentity } from '../../src/upstream/identity.ts';
import { createPools, type Pools } from '../../src/upstream/pools.ts';
import type { CallUpstream } from '../../src/upstream/request.ts';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { upstreamConfig } from '../support/upstream-config.ts';
import { startGate, type TestGate } from './gate.ts';

/** An https upstream is called and verified by the name in its URL, whatever Host header it gets. */
let authority: Authority;
const before = getCACertificates('default');
beforeAll(() => {
  authority = createAuthority();
  setDefaultCACertificates([...before, authority.ca]);
});
afterAll(() => {
  setDefaultCACertificates(before);
  authority.close();
});

interface Seen {
  readonly name: string | false | null;
  readonly host: string | undefined;
}
let server: Server;
let seen: Seen[];
let gate: TestGate;
let pools: Pools;
let call: CallUpstream;

async function start(certified: string, settings: { host?: 'public' } = { host: 'public' }): Promise<void> {
  seen = [];
  const { cert, key } = authority.issue(certified);
  const note = (socket: unknown, host: string | undefined) =>
    seen.push({ name: (socket as { servername: string | false | null }).servername, host });
  server = createServer({ cert, key }, (request, response) => {
    note(request.socket, request.headers.host);
    response.end('ok');
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (_ws, request) => note(request.socket, request.headers.host));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  gate = await startGate(url, { upstream: settings });
  const upstreams = { school: upstreamConfig(url, settings) };
  pools = createPools(upstreams);
  const { privateKey } = await generateKeyPair('ES256');
  const identity = createIdentity({
    issuer: 'http://gate.test',
    signingKey: async () => ({ kid: 'k', key: privateKey }),
    clock: Date.now,
  });
  call = createCallUpstream({ upstreams, pools, identity, origin: 'http://gate.test' });
}
async function stop(): Promise<void> {
  await gate.close();
  await pools.close();
  server.close();
  server.closeAllConnections();
}

const upgraded = async () => {
  const ws = new WebSocket(`${gate.url.replace('http', 'ws')}/live`);
  const status = await new Promise<number>((resolve) => {
    ws.on('open', () => resolve(101));
    ws.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    ws.on('error', () => undefined);
  });
  ws.terminate();
  return status;
};

describe('an upstream with a certificate for the name in its URL', () => {
  beforeEach(() => start('localhost'));
  afterEach(stop);

  it.each(['/api/x', '/open/x', '/x'])('is called by that name, with the public Host, for %s', async (path) => {
    expect((await fetch(gate.url + path)).status).toBe(200);
    expect(seen).toEqual([{ name: 'localhost', host: 'gate.test' }]);
  });

  it('opens a WebSocket by that name, with the public Host', async () => {
    expect(await upgraded()).toBe(101);
    expect(seen).toEqual([{ name: 'localhost', host: 'gate.test' }]);
  });

  it('answers a call of the gate by that name, with the public Host', async () => {
    expect((await call({ upstream: 'school', method: 'GET', path: '/' })).status).toBe(200);
    expect(seen).toEqual([{ name: 'localhost', host: 'gate.test' }]);
  });
});

describe('by default', () => {
  beforeEach(() => start('localhost', {}));
  afterEach(stop);

  it.each(['/api/x', '/open/x', '/x'])('an https upstream gets its own name in Host: %s', async (path) => {
    expect((await fetch(gate.url + path)).status).toBe(200);
    expect(seen).toEqual([{ name: 'localhost', host: expect.stringMatching(/^localhost:\d+$/) }]);
  });
});

describe('an upstream with a certificate for the public Host only', () => {
  beforeEach(() => start('gate.test'));
  afterEach(stop);

  it.each(['/api/x', '/open/x', '/x'])('gets nothing, and %s is a 502', async (path) => {
    expect((await fetch(gate.url + path)).status).toBe(502);
    expect(seen).toEqual([]);
  });

  it('gets neither a WebSocket nor a call of the gate', async () => {
    expect(await upgraded()).toBe(502);
    await expect(call({ upstream: 'school', method: 'GET', path: '/' })).rejects.toMatchObject({
      code: 'upstream_unreachable',
    });
    expect(seen).toEqual([]);
  });
});
