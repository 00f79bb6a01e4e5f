import type { IncomingMessage } from 'node:http';
import { generateKeyPair } from 'jose';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { withinRequest } from '../../src/http/current-request.ts';
import { createProvenance } from '../../src/http/provenance.ts';
import { createCallUpstream } from '../../src/upstream/call.ts';
import { createIdentity } from '../../src/upstream/identity.ts';
import { createPools, type Pools } from '../../src/upstream/pools.ts';
import type { CallForPrincipal, CallUpstream } from '../../src/upstream/request.ts';
import {
  answerOk,
  type RecordingUpstream,
  startRawUpstream,
  startRecordingUpstream,
} from '../support/recording-upstream.ts';
import { upstreamConfig } from '../support/upstream-config.ts';
import { MEMBER } from './gate.ts';

let upstream: RecordingUpstream;
let pools: Pools;
let call: CallForPrincipal & CallUpstream;
const answered: [string, number, number][] = [];

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  const upstreams = {
    school: upstreamConfig(`${upstream.url}/base/`),
    named: upstreamConfig(upstream.url, { host: 'upstream' }),
    hasty: upstreamConfig(upstream.url, { timeout: 0.3 }),
    closed: upstreamConfig('http://127.0.0.1:1', { timeout: 0.3 }),
  };
  pools = createPools(upstreams);
  const { privateKey } = await generateKeyPair('ES256');
  const signingKey = async () => ({ kid: 'k1', key: privateKey });
  call = createCallUpstream(
    {
      upstreams,
      pools,
      origin: 'https://school.example',
      identity: createIdentity({ issuer: 'http://a', signingKey, clock: Date.now }),
    },
    (...of) => void answered.push(of),
  );
});
afterEach(() => upstream.script(answerOk));
afterAll(async () => {
  await pools.close();
  await upstream.close();
});

it('sends the request under the upstream’s base path, with the principal’s identity', async () => {
  upstream.script((_request, response) => {
    response.writeHead(201, [
      ...['Content-Type', 'application/json', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-A', '1', 'X-A', '2'],
    ]);
    response.end('{"grüße":1}');
  });
  const answer = await call({
    upstream: 'school',
    method: 'POST',
    path: '/me?x=%2F',
    headers: { cookie: 'school_session=1', 'content-type': 'text/plain', X_Member_Id: 'evil', 'x-member-id': 'evil' },
    body: 'grüße',
    principal: MEMBER,
  });
  expect(answer).toMatchObject({
    status: 201,
    body: '{"grüße":1}',
    headers: { 'content-type': 'application/json', 'set-cookie': 'a=1\nb=2', 'x-a': '1, 2' },
  });
  const seen = upstream.last();
  expect([seen.method, seen.target, seen.body.toString()]).toEqual(['POST', '/base/me?x=%2F', 'grüße']);
  expect(seen.values('x-member-id')).toEqual(['m-1']);
  expect(seen.values('cookie')).toEqual(['school_session=1']);
  expect(seen.rawHeaders).not.toContain('evil');
  expect(seen.values('x-coursegate-assertion')).toHaveLength(1);
});

it('sends its own forwarding fields whatever the caller sets, and none about a client', async () => {
  const forged = {
    host: 'evil.test',
    'x-forwarded-host': 'evil.test',
    'x-forwarded-proto': 'evil',
    'x-forwarded-port': '666',
    'x-forwarded-for': '6.6.6.6',
    forwarded: 'for=6.6.6.6',
    connection: 'x-forwarded-host',
    'transfer-encoding': 'gzip',
    te: 'trailers',
    traceparent: 'evil',
    baggage: 'evil',
  };
  for (const headers of [{}, forged]) {
    await call({ upstream: 'school', method: 'GET', path: '/', headers });
    const seen = upstream.last();
    const sent = Object.fromEntries(
      seen.rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), seen.rawHeaders[at + 1]]] : [])),
    );
    expect(sent).toEqual({
      host: 'school.example',
      via: '1.1 coursegate-80850a562091e925',
      'x-forwarded-host': 'school.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '443',
      'accept-encoding': 'identity',
      connection: 'keep-alive',
    });
  }
});

it('sends the forwarding fields of the request that caused it', async () => {
  const headers = { 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'theirs-1' };
  const arrived = { headers, socket: { remoteAddress: '10.0.0.1' } } as unknown as IncomingMessage;
  const provenance = createProvenance({ trustedProxies: ['10.0.0.0/8'] })(arrived);
  await withinRequest({ provenance, userAgent: '' }, () => call({ upstream: 'school', method: 'GET', path: '/' }));
  const { values } = upstream.last();
  expect(values('x-forwarded-for')).toEqual(['203.0.113.7, 10.0.0.1']);
  expect(values('x-real-ip')).toEqual(['203.0.113.7']);
  expect(values('forwarded')).toEqual(['for=203.0.113.7;host=school.example;proto=https']);
  expect(values('x-request-id')).toEqual(['theirs-1']);
  expect(values('traceparent')).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)]);
});

it('sends the upstream’s own name in Host where that is configured', async () => {
  await call({ upstream: 'named', method: 'GET', path: '/' });
  expect(upstream.last().values('host')).toEqual([new URL(upstream.url).host]);
  expect(upstream.last().values('x-forwarded-host')).toEqual(['school.example']);
});

it('sends no identity without a principal', async () => {
  await call({ upstream: 'school', method: 'GET', path: '/' });
  expect(upstream.last().rawHeaders.join('\n')).not.toMatch(/x-member|x-client-id|x-coursegate/i);
});

it('reports the status and duration of each response, and nothing for a failed call', async () => {
  answered.length = 0;
  upstream.script((_request, response) => void setTimeout(() => response.writeHead(404).end(), 30));
  await call({ upstream: 'school', method: 'GET', path: '/x' });
  await call({ upstream: 'closed', method: 'GET', path: '/x' }).catch(() => undefined);
  expect(answered).toEqual([['school', 404, expect.any(Number)]]);
  expect(answered[0]?.[2]).toBeGreaterThanOrEqual(25);
});

it('accepts any status, and follows no redirect', async () => {
  const before = upstream.requests.length;
  upstream.script((_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end());
  const answer = await call({ upstream: 'school', method: 'GET', path: '/x' });
  expect([answer.status, answer.headers.location, upstream.requests.length - before]).toEqual([302, '/elsewhere', 1]);
});

it.each([
  ['upstream_invalid', 'more than 2 MiB', (size: number) => ({ body: 'a'.repeat(size + 1), headers: {} })],
  ['upstream_invalid', 'a content coding', () => ({ body: 'a', headers: { 'content-encoding': 'gzip' } })],
])('fails as %s for %s', async (code, _what, make) => {
  const { body, headers } = make(2 * 1024 * 1024);
  upstream.script((_request, response) => void response.writeHead(200, headers).end(body));
  await expect(call({ upstream: 'school', method: 'GET', path: '/x' })).rejects.toMatchObject({ code });
});

it('accepts exactly 2 MiB', async () => {
  upstream.script((_request, response) => void response.end('a'.repeat(2 * 1024 * 1024)));
  expect((await call({ upstream: 'school', method: 'GET', path: '/x' })).body).toHaveLength(2 * 1024 * 1024);
});

it('fails as upstream_unreachable if nothing listens', async () => {
  await expect(call({ upstream: 'closed', method: 'GET', path: '/x' })).rejects.toMatchObject({
    code: 'upstream_unreachable',
  });
});

it('fails as upstream_timeout for a late head, a late body, and an aborted call', async () => {
  upstream.script(() => undefined);
  await expect(call({ upstream: 'hasty', method: 'GET', path: '/x' })).rejects.toMatchObject({
    code: 'upstream_timeout',
  });
  upstream.script((_request, response) => void response.writeHead(200, { 'content-length': '9' }).write('a'));
  await expect(call({ upstream: 'hasty', method: 'GET', path: '/x' })).rejects.toMatchObject({
    code: 'upstream_timeout',
  });
  const signal = AbortSignal.abort();
  await expect(call({ upstream: 'hasty', method: 'GET', path: '/x', signal })).rejects.toMatchObject({
    code: 'upstream_timeout',
  });
  // The aborted call says nothing about the upstream.
  expect(pools.get('hasty').admission.state()).toEqual({ requests: 0, streams: 0, breaker: 'closed' });
});

it('is repeated once if its kept connection turns out to be closed, but only if it is a GET', async () => {
  const raw = await startRawUpstream((socket) => {
    const [head = ''] = raw.received.slice(-1);
    if (head.split('\r\n\r\n').length > 2) socket.destroy();
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const upstreams = { raw: upstreamConfig(raw.url) };
  const own = createPools(upstreams);
  const identity = createIdentity({ issuer: 'http://a', signingKey: () => Promise.reject(), clock: Date.now });
  const send = createCallUpstream({ upstreams, pools: own, origin: 'https://school.example', identity });
  const ask = (method: 'GET' | 'POST') => send({ upstream: 'raw', method, path: '/' });
  expect((await ask('GET')).body).toBe('ok');
  await new Promise(setImmediate);
  expect((await ask('GET')).body).toBe('ok');
  await new Promise(setImmediate);
  expect(raw.received.map((head) => head.split('\r\n\r\n').length - 1)).toEqual([2, 1]);
  await expect(ask('POST')).rejects.toMatchObject({ code: 'upstream_unreachable' });
  expect(raw.received).toHaveLength(2);
  await own.close();
  await raw.close();
});

it('is repeated on a new connection, as the other kept ones may be closed as well', async () => {
  const seen: number[] = [];
  const held: (() => void)[] = [];
  const raw = await startRawUpstream((socket, connection) => {
    seen.push(connection);
    const answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    if (connection > 2) answer();
    else if (held.length < 3) held.push(answer);
    else socket.destroy();
  });
  const upstreams = { raw: upstreamConfig(raw.url) };
  const own = createPools(upstreams);
  const identity = createIdentity({ issuer: 'http://a', signingKey: () => Promise.reject(), clock: Date.now });
  const send = createCallUpstream({ upstreams, pools: own, origin: 'https://school.example', identity });
  const ask = () => send({ upstream: 'raw', method: 'GET', path: '/' });
  const three = [ask(), ask(), ask()];
  await expect.poll(() => held.length).toBe(3);
  for (const answer of held) answer();
  await Promise.all(three);
  await new Promise(setImmediate);
  expect((await ask()).body).toBe('ok');
  expect(seen).toEqual([0, 1, 2, expect.any(Number), 3]);
  await own.close();
  await raw.close();
});

it('is cancelled at the upstream when the caller gives up', async () => {
  const closed = new Promise<void>((resolve) => {
    upstream.script((_request, response) => void response.once('close', resolve));
  });
  const caller = new AbortController();
  const before = upstream.requests.length;
  const answer = call({ upstream: 'school', method: 'GET', path: '/slow', signal: caller.signal });
  const refused = expect(answer).rejects.toMatchObject({ code: 'upstream_timeout' });
  await expect.poll(() => upstream.requests.length).toBe(before + 1);
  caller.abort();
  await refused;
  await closed;
  expect(pools.get('school').admission.state()).toEqual({ requests: 0, streams: 0, breaker: 'closed' });
});

it('removes a byte order mark', async () => {
  upstream.script((_request, response) => void response.end('\uFEFF{"a":1}'));
  expect((await call({ upstream: 'school', method: 'GET', path: '/x' })).body).toBe('{"a":1}');
});
