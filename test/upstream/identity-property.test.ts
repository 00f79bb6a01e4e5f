import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

// Whatever a client sends on raw sockets, no upstream can read it as an identity, an address or an instruction.
let upstream: RecordingUpstream;
let gate: TestGate;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  upstream.onUpgrade((_request, socket) => socket.end('HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n'));
  gate = await startGate(upstream.url);
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

const RESERVED = [
  ...['x-member-id', 'x-member-email', 'x-member-scope', 'x-member-name', 'x-client-id', 'x-coursegate-assertion'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-user', 'x-real-ip', 'forwarded'],
  ...['x-remote-user', 'remote-user', 'x-auth-request-user', 'ssl-client-verify', 'true-client-ip', 'x-original-url'],
  ...['x-rewrite-url', 'x-http-method-override', 'proxy', 'proxy-authorization', 'x-accel-redirect', 'x-request-id'],
  ...['traceparent', 'tracestate', 'x-userinfo', 'x-goog-iap-jwt-assertion', 'x-webauth-user'],
];

/** The name in a spelling that CGI, WSGI or a framework folds into it. */
const spelled = fc
  .tuple(
    fc.constantFrom(...RESERVED),
    fc.array(fc.constantFrom('-', '_', '.', '~', '!', '-'), { minLength: 6 }),
    fc.nat(),
  )
  .map(([name, separators, capitals]) =>
    [...name]
      .map((letter, at) => (letter === '-' ? (separators[at % separators.length] ?? '-') : letter))
      .map((letter, at) => ((capitals >> (at % 24)) & 1 ? letter.toUpperCase() : letter))
      .join(''),
  );
const plain = fc.constantFrom(
  'Accept',
  'User-Agent',
  'X-Anything',
  'Authorization',
  'Cookie',
  'TE',
  'Keep-Alive',
  'DNT',
);
const value = fc.constantFrom(
  'evil',
  'evil, m-2',
  '"evil"',
  'Bearer evil',
  '',
  'coursegate=evil; __Host-coursegate_member=evil',
);
const line = fc.oneof(
  fc.tuple(spelled, value).map(([name, text]) => `${name}: ${text}`),
  fc.tuple(plain, value).map(([name, text]) => `${name}: ${text}`),
  fc
    .array(fc.oneof(fc.constantFrom(...RESERVED, 'host', 'cookie', 'x-anything'), spelled), { maxLength: 4 })
    .map((names) => `Connection: ${['keep-alive', ...names].join(', ')}`),
);
const lines = fc.array(line, { maxLength: 12 });

const folded = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '-');

/** The headers that the upstream received and that could be read as ours, by folded name. */
function trusted(rawHeaders: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = folded(rawHeaders[at] ?? '');
    if (RESERVED.includes(name)) found[name] = [...(found[name] ?? []), rawHeaders[at + 1] ?? ''];
  }
  return found;
}

const FORWARDED = {
  'x-forwarded-for': ['127.0.0.1'],
  'x-forwarded-host': ['gate.test'],
  'x-forwarded-proto': ['http'],
  'x-real-ip': ['127.0.0.1'],
  forwarded: ['for=127.0.0.1;host=gate.test;proto=http'],
  'x-request-id': [expect.stringMatching(/^[0-9a-f-]{36}$/)],
  traceparent: [expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)],
};
const MEMBER = {
  'x-member-id': ['m-1'],
  'x-member-email': ['student@example.com'],
  'x-member-name': ['Ren%C3%A9e%2C A.'],
  'x-member-scope': ['courses:read orders:read'],
  'x-client-id': ['client-1'],
  'x-coursegate-assertion': [expect.stringMatching(/^eyJ/)],
};

/** Sends requests one after the other on one connection; a response is complete when its body is. */
function client() {
  let socket: Socket | undefined;
  return {
    async get(path: string, fields: readonly string[]): Promise<string> {
      socket ??= connect(gate.port, '127.0.0.1');
      const open = socket;
      const answer = new Promise<string>((resolve, reject) => {
        let received = '';
        const onData = (chunk: Buffer) => {
          received += chunk.toString('latin1');
          if (!received.includes('{"ok":true}')) return;
          open.off('data', onData).off('error', reject);
          resolve(received);
        };
        open.on('data', onData).once('error', reject);
      });
      open.write([`GET ${path} HTTP/1.1`, 'Host: gate.test', ...fields, '', ''].join('\r\n'));
      return answer;
    },
    close: () => void socket?.destroy(),
  };
}

describe('only the gate’s identity fields', () => {
  it.each([
    ['a member’s request', '/api/x', { ...MEMBER, ...FORWARDED }],
    ['an anonymous request', '/open/x', FORWARDED],
    ['the site', '/x', FORWARDED],
  ])(
    'reach an upstream by %s, in 3,400 random sets of fields',
    async (_lane, path, expected) => {
      const sender = client();
      await fc.assert(
        fc.asyncProperty(lines, async (fields) => {
          const before = upstream.requests.length;
          expect(await sender.get(path, fields)).toMatch(/^HTTP\/1\.1 200 /);
          expect(upstream.requests.length).toBe(before + 1);
          const { rawHeaders } = upstream.last();
          expect(trusted(rawHeaders)).toEqual(expected);
          const sent = upstream.last();
          const cookies = sent.values('cookie').join('\n');
          const authorizations = sent.values('authorization').join('\n');
          expect(cookies).not.toMatch(/__Host-coursegate/);
          expect(authorizations).not.toMatch(/^bearer/im);
          if (path !== '/x') expect(cookies + authorizations).toBe('');
        }),
        { numRuns: 3_400 },
      );
      sender.close();
    },
    180_000,
  );

  it('reach the site by a handshake, in 400 random sets of fields', async () => {
    await fc.assert(
      fc.asyncProperty(lines, async (fields) => {
        const before = upstream.requests.length;
        await gate.raw(
          [
            ...['GET /live HTTP/1.1', 'Host: gate.test', 'Connection: Upgrade', 'Upgrade: websocket'],
            ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...fields, '', ''],
          ].join('\r\n'),
        );
        expect(upstream.requests.length).toBe(before + 1);
        expect(trusted(upstream.last().rawHeaders)).toEqual(FORWARDED);
      }),
      { numRuns: 400 },
    );
  });
});
