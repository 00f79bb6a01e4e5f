import { createServer, type TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../src/config/schema.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate } from './gate.ts';

const NONE: UpstreamConfig['headers'] = { request: { allow: [], drop: [] }, response: { drop: [] } };

// The header settings of an upstream, and the rules for the responses of all upstreams.
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
});
afterEach(() => upstream.script(answerOk));
afterAll(() => upstream.close());

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';

async function withGate<T>(
  config: Partial<UpstreamConfig>,
  use: (gate: Awaited<ReturnType<typeof startGate>>) => Promise<T>,
  path = '',
): Promise<T> {
  const gate = await startGate(upstream.url + path, { upstream: config });
  try {
    return await use(gate);
  } finally {
    await gate.close();
  }
}

/** The lines of the response to a GET, starting with the status line. */
async function answer(path: string, fields: readonly string[], config: Partial<UpstreamConfig> = {}, prefix = '') {
  upstream.script((_request, response) => {
    const [status = '', ...rest] = fields;
    response.writeHead(
      Number(status),
      rest.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    response.end('the body');
  });
  const text = await withGate(
    config,
    (gate) => gate.raw(`GET ${path} HTTP/1.1\r\nHost: gate.test\r\nConnection: close\r\n\r\n`),
    prefix,
  );
  return (text.split('\r\n\r\n')[0] ?? '').split('\r\n');
}

const LANES = ['/api/x', '/open/x', '/x'] as const;

describe('Host', () => {
  it.each([
    [{}, 'gate.test'],
    [{ host: 'public' as const }, 'gate.test'],
    [{ host: 'upstream' as const }, 'UPSTREAM'],
  ])('with %o is %s on both lanes and in a handshake, whatever the client sends', async (config, expected) => {
    await withGate(config, async (gate) => {
      for (const path of LANES) {
        await gate.raw(`GET ${path} HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n`);
        expect(upstream.last().values('host')).toEqual([expected.replace('UPSTREAM', new URL(upstream.url).host)]);
      }
      await gate.raw(`GET /live HTTP/1.1\r\nHost: evil.test\r\n${UPGRADE}\r\n\r\n`);
      expect(upstream.last().values('host')).toEqual([expected.replace('UPSTREAM', new URL(upstream.url).host)]);
    });
  });

  it.each([
    ['/api/x', ''],
    ['/x', ''],
    ['/live', `${UPGRADE}\r\n`],
  ])('does not affect TLS, which verifies the upstream’s own name: %s', async (path, extra) => {
    const called: string[] = [];
    const server = createServer({
      SNICallback: (name, done) => {
        called.push(name);
        done(new Error('no certificate'));
      },
    });
    server.on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    for (const host of ['public', 'upstream'] as const) {
      const gate = await startGate(`https://localhost:${port}`, { upstream: { host }, timeout: 2 });
      expect(await gate.raw(`GET ${path} HTTP/1.1\r\nHost: a\r\n${extra || 'Connection: close\r\n'}\r\n`)).toMatch(
        /^HTTP\/1\.1 502 /,
      );
      await gate.close();
    }
    expect(new Set(called)).toEqual(new Set(['localhost']));
    server.close();
  });
});

/** The names that the upstream receives of these lines. */
const sent = async (path: string, config: Partial<UpstreamConfig>, ...lines: string[]) =>
  withGate(config, async (gate) => {
    const fields = ['Host: a', ...lines, path === '/live' ? UPGRADE : 'Connection: close'];
    await gate.raw(`GET ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
    const raw = upstream.last().rawHeaders;
    return raw.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  });

describe('request fields', () => {
  const USUAL = [
    ...['Accept: a', 'Accept-Language: en', 'Content-Type: text/plain', 'If-None-Match: "1"', 'Range: bytes=0-1'],
    ...['User-Agent: a', 'Origin: http://gate.test', 'Referer: a', 'Idempotency-Key: 1', 'Sec-Fetch-Mode: cors'],
    ...['Accept-Encoding', 'Content-Encoding', 'If-Range', 'If-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
    ...['Prefer', 'Last-Event-ID', 'X-Requested-With', 'MCP-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method'],
    ...['Mcp-Name', 'Accept-Charset', 'Accept-Version', 'Api-Version', 'Cache-Control', 'Pragma', 'Content-Language'],
    ...['Content-Disposition', 'Content-Range', 'Content-Location', 'Content-MD5', 'Content-Digest', 'Digest'],
    ...['Repr-Digest', 'Want-Content-Digest', 'Want-Repr-Digest', 'Date', 'Priority', 'Save-Data', 'Early-Data'],
    ...['DNT', 'Sec-GPC', 'Sec-CH-UA'],
  ].map((line) => (line.includes(': ') ? line : `${line}: 1`));
  const UNKNOWN = ['X-Admin: 1', 'X-Tenant: 1', 'X-Api-Key: 1', 'X-Api-Version: 1', 'Anything: 1'];

  it.each(['/api/x', '/open/x'])('on a protected path pass only if they are known: %s', async (path) => {
    const names = await sent(path, {}, ...USUAL, ...UNKNOWN);
    for (const line of USUAL) expect(names).toContain(line.split(':')[0]?.toLowerCase());
    expect(names).toContain('x-api-version');
    for (const name of ['x-admin', 'x-tenant', 'x-api-key', 'anything']) expect(names).not.toContain(name);
  });

  it.each(['/x', '/live'])('on the site pass unless they are known to be dangerous: %s', async (path) => {
    const names = await sent(path, {}, ...USUAL, ...UNKNOWN);
    for (const line of [...USUAL, ...UNKNOWN]) expect(names).toContain(line.split(':')[0]?.toLowerCase());
  });

  it('on a protected path also pass if the operator allows them, in any case', async () => {
    const headers = { ...NONE, request: { allow: ['x-TENANT'], drop: [] } };
    const names = await sent('/api/x', { headers }, ...UNKNOWN);
    expect(names).toContain('x-tenant');
    expect(names).not.toContain('x-admin');
  });

  it.each([...LANES, '/live'])('never pass if the operator drops them: %s', async (path) => {
    const headers = { ...NONE, request: { allow: [], drop: ['X-Admin', 'User-Agent', 'Cookie'] } };
    const names = await sent(path, { headers }, 'x-admin: 1', 'User-Agent: a', 'Cookie: a=1', 'Accept: a');
    expect(names).toContain('accept');
    for (const name of ['x-admin', 'user-agent', 'cookie']) expect(names).not.toContain(name);
  });
});

describe('the fields of a credential', () => {
  type Credential = NonNullable<UpstreamConfig['credential']>;
  const secret = {} as Extract<Credential, { kind: 'key' }>['secret'];
  const session: Credential = {
    ...{ kind: 'session', cookies: ['sid'], check: 60, over: { statuses: [401] } },
    csrf: { cookie: 'c', header: 'X-CSRF-Token' },
  };
  const mint = { method: 'POST', path: '/{member.id}' } as const;
  const ALL = ['authorization', 'cookie', 'x-csrf-token', 'x-school-token'];

  it.each<[string, Credential, readonly string[], readonly string[]]>([
    ['a session', session, ['x-school-token'], ALL],
    [
      'a token',
      { kind: 'token', mint, token: '/token', lifetime: 300, header: 'X-School-Token' },
      ['x-csrf-token'],
      ['authorization', 'cookie', 'x-csrf-token'],
    ],
    [
      'a key in Authorization',
      { kind: 'key', header: 'Authorization', secret },
      ['x-csrf-token', 'x-school-token'],
      ALL,
    ],
    ['a key in the query', { kind: 'key', query: 'key', secret }, ['x-csrf-token', 'x-school-token'], ALL],
  ])('of %s are taken from no app, and the site keeps what is its own', async (_what, credential, ofApps, ofSite) => {
    const headers = { ...NONE, request: { allow: ['X-CSRF-Token', 'X-School-Token'], drop: [] } };
    const fields = ['Authorization: Basic eDp5', 'Cookie: sid=1', 'x-csrf-token: 1', 'x-school-token: 1'];
    for (const [path, expected] of [
      ['/api/x', ofApps],
      ['/x', ofSite],
    ] as const) {
      const names = await sent(path, { headers, credential }, ...fields);
      expect(names.filter((name) => ALL.includes(name)).toSorted()).toEqual(expected);
    }
  });
});

describe('response fields', () => {
  it.each(LANES)('do not pass if the operator drops them: %s', async (path) => {
    const headers = { ...NONE, response: { drop: ['x-node', 'ETag'] } };
    const lines = await answer(path, ['200', 'X-Node: 7', 'ETag: "1"', 'X-Total-Count: 3'], { headers });
    expect(lines.join('\n')).not.toMatch(/x-node|etag/i);
    expect(lines).toContain('X-Total-Count: 3');
  });

  it.each(LANES)('for security pass byte for byte and as often as they were sent: %s', async (path) => {
    const fields = [
      'Strict-Transport-Security: max-age=31536000; includeSubDomains',
      "Content-Security-Policy: default-src 'self'",
      'Content-Security-Policy: img-src *',
      'X-Frame-Options: DENY',
      'Vary: Accept-Encoding',
      'Vary: Accept-Language',
    ];
    const lines = await answer(path, ['200', ...fields]);
    expect(lines.filter((line) => fields.includes(line))).toEqual(fields);
  });

  it('contain the gate’s request ID, not the upstream’s', async () => {
    for (const path of LANES)
      expect((await answer(path, ['200', 'X-Request-Id: theirs', 'traceparent: theirs'])).join('\n')).not.toMatch(
        /theirs/,
      );
  });

  it('that affect the whole origin pass from the site, but not from an API', async () => {
    const fields = ['Clear-Site-Data: "cookies"', 'Access-Control-Allow-Origin: *', 'WWW-Authenticate: Basic'];
    expect((await answer('/api/x', ['200', ...fields])).join('\n')).not.toMatch(/clear-site|access-control|basic/i);
    expect(await answer('/x', ['200', ...fields])).toEqual(expect.arrayContaining(fields));
  });
});

describe('an upstream’s authentication challenge', () => {
  it.each(['/api/x', '/open/x'])('is removed, and its 401 becomes 403 with the same body: %s', async (path) => {
    const lines = await answer(path, ['401', 'WWW-Authenticate: Bearer realm="inner"']);
    expect(lines[0]).toBe('HTTP/1.1 403 Forbidden');
    expect(lines.join('\n')).not.toMatch(/www-authenticate/i);
    expect(lines).toContain('Cache-Control: private, no-store');
  });

  it('passes on the site', async () => {
    const lines = await answer('/x', ['401', 'WWW-Authenticate: Basic realm="inner"']);
    expect(lines[0]).toBe('HTTP/1.1 401 Unauthorized');
    expect(lines).toContain('WWW-Authenticate: Basic realm="inner"');
  });

  it.each(LANES)('to a proxy becomes a 502: %s', async (path) => {
    expect((await answer(path, ['407', 'Proxy-Authenticate: Basic']))[0]).toBe('HTTP/1.1 502 Bad Gateway');
  });
});

describe('cache fields', () => {
  const cache = (lines: string[]) =>
    lines.filter((line) => /^(cache-control|vary|expires|pragma|surrogate-control|.*-cache-control)/i.test(line));
  const SECRET = ['Cache-Control: private, no-store'];

  it.each([
    [['200'], SECRET],
    [['200', 'Cache-Control: public, max-age=60'], SECRET],
    [['200', 'Cache-Control: max-age=60', 'Cache-Control: s-maxage=60'], SECRET],
    [['200', 'Cache-Control: private="set-cookie", max-age=60'], SECRET],
    [['200', 'Cache-Control: max-age=60, x="a, private, b"'], SECRET],
    [['200', 'Cache-Control: max-age=60, private-ish'], SECRET],
    [['200', 'CDN-Cache-Control: max-age=60', 'Surrogate-Control: max-age=60', 'Expires: 0', 'Pragma: x'], SECRET],
    [['404', 'Cache-Control: private, max-age=60'], SECRET],
    [
      ['200', 'Cache-Control: private, max-age=60'],
      ['Cache-Control: private, max-age=60', 'Vary: Authorization'],
    ],
    [
      ['304', 'Cache-Control: No-Store'],
      ['Cache-Control: No-Store', 'Vary: Authorization'],
    ],
  ])('of a member’s response with %j become %j', async (given, expected) => {
    for (const path of ['/api/x', '/api/x.css']) expect(cache(await answer(path, given))).toEqual(expected);
  });

  it.each([
    [['200'], ['Vary: Authorization']],
    [
      ['200', 'Cache-Control: public, max-age=60'],
      ['Cache-Control: public, max-age=60', 'Vary: Authorization'],
    ],
    [
      ['200', 'CDN-Cache-Control: max-age=60'],
      ['CDN-Cache-Control: max-age=60', 'Vary: Authorization'],
    ],
    [['404', 'Cache-Control: public, max-age=60'], SECRET],
    [['503', 'CDN-Cache-Control: max-age=60'], SECRET],
  ])('of an anonymous response with %j become %j', async (given, expected) => {
    expect(cache(await answer('/open/x', given))).toEqual(expected);
  });

  it('of the site pass unchanged', async () => {
    const fields = ['Cache-Control: public, max-age=60', 'CDN-Cache-Control: max-age=5', 'Expires: 0'];
    expect(cache(await answer('/x', ['404', ...fields])).toSorted()).toEqual(fields.toSorted());
  });
});

describe('internal addresses in response fields', () => {
  it.each([
    ['Location: UPSTREAM/base/next?a', 'Location: http://gate.test/next?a'],
    ['Location: http://app.internal/base/next', 'Location: http://gate.test/next'],
    ['Location: https://app.internal/base/next', 'Location: http://gate.test/next'],
    ['Location: //app.internal/next', 'Location: http://gate.test/next'],
    ['Location: http://10.0.0.5:8080/base/next', 'Location: http://gate.test/next'],
    ['Location: http://app.internal.example/next', 'Location: http://app.internal.example/next'],
    ['Location: http://localhost:3000/next', 'Location: http://gate.test/next'],
    ['Content-Location: UPSTREAM/base/item', 'Content-Location: http://gate.test/item'],
    ['SourceMap: UPSTREAM/base/a.map', 'SourceMap: http://gate.test/a.map'],
    [
      'Link: <UPSTREAM/base/?page=2>; rel="next", <https://cdn.example/a>; rel=preload, </base/b>; rel=x',
      'Link: <http://gate.test/?page=2>; rel="next", <https://cdn.example/a>; rel=preload, </b>; rel=x',
    ],
    ['Refresh: 5; url=UPSTREAM/base/later', 'Refresh: 5; url=http://gate.test/later'],
    ['Refresh: 0;URL="http://app.internal/base/later"', 'Refresh: 0;URL="http://gate.test/later"'],
    ['Refresh: 5', 'Refresh: 5'],
    ['Refresh: 1; url=https://other.example/', 'Refresh: 1; url=https://other.example/'],
  ])('are replaced: %s becomes %s', async (given, expected) => {
    const aliases = ['app.internal', '10.0.0.5:8080'];
    for (const path of ['/api/x', '/x'])
      expect(await answer(path, ['302', given.replace('UPSTREAM', upstream.url)], { aliases }, '/base')).toContain(
        expected,
      );
  });
});

describe('cookies of the site', () => {
  it.each([
    ['a=1; Path=/; Secure; HttpOnly; SameSite=Lax', 'a=1; Path=/; Secure; HttpOnly; SameSite=Lax'],
    ['a=1; Domain=127.0.0.1; Path=/base/', 'a=1; Path=/'],
    ['a=1;domain=.127.0.0.1;path=/base/x;secure', 'a=1;path=/x;secure'],
    ['a=1; Domain=gate.test; Path=/based', 'a=1; Domain=gate.test; Path=/based'],
    ['a="b, c; Domain=127.0.0.1"; Path=/base', 'a="b, c; Domain=127.0.0.1"; Path=/'],
    ['=a=1', '=a=1'],
    ['__Host-coursegate_session=x; Path=/', undefined],
    [' __Host-coursegate_session=x', undefined],
    ['=__Host-coursegate_session=x', undefined],
    [' = __Host-coursegate_session.sig=x; Domain=test', undefined],
    ['__Host-coursegate_session', undefined],
  ])('are adapted: Set-Cookie: %s becomes %s', async (given, expected) => {
    const lines = (await answer('/x', ['200', `Set-Cookie: ${given}`, 'Set-Cookie: z=1'], {}, '/base')).filter((line) =>
      /^set-cookie/i.test(line),
    );
    expect(lines).toEqual(
      [...(expected === undefined ? [] : [expected]), 'z=1'].map((value) => `Set-Cookie: ${value}`),
    );
  });
});
