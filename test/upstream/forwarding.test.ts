import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

// What an upstream learns about the origin of a request, on both lanes and in a WebSocket handshake.
let upstream: RecordingUpstream;
let stranger: TestGate;
let trusting: TestGate;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  upstream.onUpgrade((_request, socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'));
  stranger = await startGate(upstream.url);
  trusting = await startGate(upstream.url, { trustedProxies: ['loopback', '10.0.0.0/8'] });
});
afterAll(async () => {
  for (const gate of [stranger, trusting]) await gate.close();
  await upstream.close();
});

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const LANES = [
  ['protected, a member', '/api/x', ['Connection: close']],
  ['protected, anonymous', '/open/x', ['Connection: close']],
  ['the site', '/x', ['Connection: close']],
  ['an upgrade', '/live', UPGRADE],
] as const;

async function seen(gate: TestGate, path: string, ...lines: string[]) {
  const before = upstream.requests.length;
  await gate.raw([`GET ${path} HTTP/1.1`, 'Host: evil.test', ...lines, '', ''].join('\r\n'));
  expect(upstream.requests.length).toBe(before + 1);
  return upstream.last();
}

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const TOLD = [
  'X-Forwarded-For: 1.1.1.1, 203.0.113.9, 10.0.0.2',
  'X-Forwarded-Host: evil.test',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Port: 666',
  'X-Forwarded-Prefix: /evil',
  'X-Forwarded-Uri: /evil',
  'X-Forwarded-Server: evil.test',
  'X-Forwarded-Method: DELETE',
  'X-Real-IP: 6.6.6.6',
  'True-Client-IP: 6.6.6.6',
  'CF-Connecting-IP: 6.6.6.6',
  'X-Client-IP: 6.6.6.6',
  'X-Cluster-Client-IP: 6.6.6.6',
  'Fastly-Client-IP: 6.6.6.6',
  'X-Original-Host: evil.test',
  'X-Request-Id: theirs-1',
  `traceparent: ${PARENT}`,
  'tracestate: vendor=1',
  'baggage: a=1',
  'B3: 1-2-1',
  'X-B3-TraceId: 1',
  'X-Amzn-Trace-Id: Root=1',
  'Uber-Trace-Id: 1',
  'X-Cloud-Trace-Context: 1',
  'X-Datadog-Trace-Id: 1',
  'Uberctx-Key: 1',
];
/** Those in the formats of tracers. */
const TRACERS = ['b3', 'x-b3-traceid', 'uber-trace-id', 'x-cloud-trace-context', 'x-datadog-trace-id', 'uberctx-key'];

describe.each(LANES)('%s', (_lane, path, connection) => {
  it('an untrusted client’s forwarding fields are replaced', async () => {
    const request = await seen(stranger, path, ...connection, ...TOLD, 'Forwarded: for=6.6.6.6;host=evil.test');
    expect(request.values('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(request.values('x-real-ip')).toEqual(['127.0.0.1']);
    expect(request.values('forwarded')).toEqual(['for=127.0.0.1;host=gate.test;proto=http']);
    expect(request.values('x-forwarded-host')).toEqual(['gate.test']);
    expect(request.values('x-forwarded-proto')).toEqual(['http']);
    expect(request.values('x-forwarded-port')).toEqual(['80']);
    expect(request.values('x-request-id')).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(request.values('traceparent')).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)]);
    expect(request.values('traceparent')).not.toEqual([PARENT]);
    const names = request.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    for (const line of ['tracestate', 'baggage', ...TRACERS, 'x-amzn-trace-id', 'x-forwarded-prefix'])
      expect(names).not.toContain(line);
    expect(request.rawHeaders.join('\n')).not.toMatch(/evil|6\.6\.6\.6|1\.1\.1\.1|203\.0\.113\.9/);
  });

  it('a trusted proxy’s client address, request ID and trace are kept, but not its host', async () => {
    const request = await seen(trusting, path, ...connection, ...TOLD, 'Forwarded: for=6.6.6.6;host=evil.test');
    expect(request.values('x-forwarded-for')).toEqual(['203.0.113.9, 10.0.0.2, 127.0.0.1']);
    expect(request.values('x-real-ip')).toEqual(['203.0.113.9']);
    expect(request.values('forwarded')).toEqual(['for=203.0.113.9;host=gate.test;proto=http']);
    expect(request.values('x-forwarded-host')).toEqual(['gate.test']);
    expect(request.values('x-forwarded-proto')).toEqual(['http']);
    expect(request.values('x-request-id')).toEqual(['theirs-1']);
    const [sent = ''] = request.values('traceparent');
    // The same trace, with a new span for the gate.
    expect(sent).toMatch(new RegExp(`^${PARENT.slice(0, 35)}-[0-9a-f]{16}-01$`));
    expect(sent).not.toBe(PARENT);
    expect(request.values('tracestate')).toEqual(['vendor=1']);
    expect(request.values('baggage')).toEqual(['a=1']);
    expect(request.values('x-amzn-trace-id')).toEqual(['Root=1']);
    for (const name of TRACERS) expect(request.values(name), name).toHaveLength(1);
    expect(request.rawHeaders.join('\n')).not.toMatch(/evil|6\.6\.6\.6|1\.1\.1\.1/);
  });

  it('a client with an IPv6 address is quoted in Forwarded', async () => {
    const request = await seen(trusting, path, ...connection, 'X-Forwarded-For: 2001:db8::7');
    expect(request.values('x-real-ip')).toEqual(['2001:db8::7']);
    expect(request.values('forwarded')).toEqual(['for="[2001:db8::7]";host=gate.test;proto=http']);
  });

  it('a trusted proxy’s Forwarded field is ignored', async () => {
    const request = await seen(trusting, path, ...connection, 'Forwarded: for="[2001:db8::7]:99"');
    expect(request.values('x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(request.values('forwarded')).toEqual(['for=127.0.0.1;host=gate.test;proto=http']);
  });

  it('an invalid or repeated traceparent of a trusted proxy starts a new trace', async () => {
    for (const lines of [['traceparent: ff-1'], [`traceparent: ${PARENT}`, `traceparent: ${PARENT}`]]) {
      const request = await seen(trusting, path, ...connection, ...lines, 'tracestate: vendor=1', 'X-Request-Id: a b');
      expect(request.values('traceparent')).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)]);
      expect(request.values('traceparent')).not.toEqual([PARENT]);
      expect(request.values('tracestate')).toEqual([]);
      expect(request.values('x-request-id')).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    }
  });

  it('an invalid tracestate is dropped, and the trace is kept', async () => {
    for (const state of ['Vendor=1', 'vendor=1,vendor=2', 'vendor']) {
      const request = await seen(trusting, path, ...connection, `traceparent: ${PARENT}`, `tracestate: ${state}`);
      expect(request.values('tracestate')).toEqual([]);
      expect(request.values('traceparent')[0]?.slice(0, 35)).toBe(PARENT.slice(0, 35));
    }
  });

  it('a thousand forged addresses, or unreadable ones, cause no error', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `1.1.${at >> 8}.${at & 255}`).join(',');
    for (const told of [many, 'unknown', '_hidden', '', ',,,', '"', '[::1', 'fe80::1%eth0']) {
      const request = await seen(trusting, path, ...connection, `X-Forwarded-For: ${told}`);
      const expected = told === many ? '1.1.3.231' : told === 'fe80::1%eth0' ? 'fe80::1' : '127.0.0.1';
      expect(request.values('x-real-ip')).toEqual([expected]);
    }
  });
});

it.each([
  ['its own', 'upstream', (url: string) => new URL(url).host],
  ['the public one', 'public', () => 'gate.test'],
] as const)(
  'sends a protected upstream %s as Host when configured, and never the client’s',
  async (_what, host, expected) => {
    const own = await startRecordingUpstream();
    const gate = await startGate(own.url, { upstream: { host } });
    await gate.raw('GET /api/x HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n');
    expect(own.last().values('host')).toEqual([expected(own.url)]);
    expect(own.last().values('x-forwarded-host')).toEqual(['gate.test']);
    await gate.close();
    await own.close();
  },
);
