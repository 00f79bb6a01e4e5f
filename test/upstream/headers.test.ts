import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HeaderPolicy } from '../../src/upstream/header-policy.ts';
import { responseHead } from '../../src/upstream/headers.ts';
import { type RecordingUpstream, startRawUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate, type TestGate } from './gate.ts';

let upstream: RecordingUpstream;
let gate: TestGate;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  gate = await startGate(upstream.url);
});
afterAll(async () => {
  await gate.close();
  await upstream.close();
});

/** Sends a GET with these header lines. Returns the names and values that the upstream received. */
async function seen(path: string, ...lines: string[]): Promise<[string, string][]> {
  const before = upstream.requests.length;
  const answer = await gate.raw(
    [`GET ${path} HTTP/1.1`, 'Host: gate.test', ...lines, 'Connection: close', '', ''].join('\r\n'),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(upstream.requests.length).toBe(before + 1);
  const raw = upstream.last().rawHeaders;
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as [string, string]] : []));
}

/** Every header whose name an upstream could read as `name`. */
function folded(fields: [string, string][], name: string): string[] {
  return fields.filter(([field]) => field.toLowerCase().replace(/[^a-z0-9]/g, '-') === name).map(([, value]) => value);
}

const SPELLINGS = [
  'X-Member-Id',
  'x-member-id',
  'X_Member_Id',
  'X-Member_Id',
  'X.Member.Id',
  'X!Member~Id',
  'X-Member-Id',
];

describe('identity fields', () => {
  it.each([
    ['protected, a member', '/api/x', ['m-1']],
    ['protected, anonymous', '/open/x', []],
    ['the site', '/x', []],
  ])('of the client are replaced or removed in every spelling: %s', async (_lane, path, expected) => {
    const fields = await seen(path, ...SPELLINGS.map((name) => `${name}: evil`));
    expect(folded(fields, 'x-member-id')).toEqual(expected);
    expect(fields.map(([, value]) => value)).not.toContain('evil');
  });

  it.each(['/api/x', '/open/x', '/x'])('of the client are removed under every other name: %s', async (path) => {
    const names = [
      ...['X-Member-Email', 'X-Member-Anything', 'X-Client-Id', 'X-Coursegate-Assertion', 'X_Coursegate_Assertion'],
      ...['X-Forwarded-User', 'X-Forwarded-Email', 'X-Forwarded-Groups', 'X-Forwarded-Access-Token', 'Remote-User'],
      ...[
        'X-Auth-Request-User',
        'X-Remote-User',
        'X-WebAuth-User',
        'X-Userinfo',
        'X-Id-Token',
        'Cf-Access-Jwt-Assertion',
      ],
      ...['X-Goog-Iap-Jwt-Assertion', 'X-Amzn-Oidc-Data', 'Ssl-Client-Verify', 'Proxy', 'Proxy-Authorization', 'DPoP'],
    ];
    const fields = await seen(path, ...names.map((name) => `${name}: evil`));
    expect(fields.filter(([, value]) => value === 'evil')).toEqual([]);
  });

  it('are set after the fields that Connection names were removed', async () => {
    const fields = await seen(
      '/api/x',
      'Connection: x-member-id, X-Coursegate-Assertion, x-forwarded-for, host, x-mine',
      'X-Mine: 1',
    );
    expect(folded(fields, 'x-member-id')).toEqual(['m-1']);
    expect(folded(fields, 'x-coursegate-assertion')).toHaveLength(1);
    expect(folded(fields, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(folded(fields, 'host')).toEqual(['gate.test']);
    expect(folded(fields, 'x-mine')).toEqual([]);
  });

  it('of a member each have one value', async () => {
    const fields = await seen('/api/x');
    expect(folded(fields, 'x-member-email')).toEqual(['student@example.com']);
    expect(folded(fields, 'x-member-name')).toEqual(['Ren%C3%A9e%2C A.']);
    expect(folded(fields, 'x-member-scope')).toEqual(['courses:read orders:read']);
    expect(folded(fields, 'x-client-id')).toEqual(['client-1']);
  });

  it('are absent from an anonymous request', async () => {
    const names = (await seen('/open/x')).map(([name]) => name.toLowerCase());
    expect(names.filter((name) => /^x-(member|client|coursegate)/.test(name))).toEqual([]);
  });
});

describe('a request', () => {
  it.each(['/api/x', '/x'])('has no forwarding or override fields of the client: %s', async (path) => {
    const names = [
      ...['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'X-Forwarded-Prefix'],
      ...[
        'Forwarded',
        'X-Real-IP',
        'True-Client-IP',
        'CF-Connecting-IP',
        'X-Client-IP',
        'X-Original-URL',
        'X-Rewrite-URL',
      ],
      ...[
        'X-HTTP-Method-Override',
        'X-HTTP-Method',
        'X-Method-Override',
        'X-Accel-Redirect',
        'X-Middleware-Subrequest',
      ],
    ];
    const fields = await seen(path, ...names.map((name) => `${name}: evil`));
    expect(fields.filter(([, value]) => value.includes('evil'))).toEqual([]);
    expect(folded(fields, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(folded(fields, 'x-forwarded-host')).toEqual(['gate.test']);
    expect(folded(fields, 'x-forwarded-proto')).toEqual(['http']);
    expect(folded(fields, 'host')).toEqual(['gate.test']);
  });

  it.each(['/api/x', '/x'])('has no hop-by-hop fields, no Trailer, and no names with _ or .: %s', async (path) => {
    const fields = await seen(
      path,
      'Trailer: x',
      'TE: trailers',
      'Keep-Alive: timeout=9',
      'Proxy-Connection: x',
      'A_B: 1',
      'A.B: 1',
    );
    const names = fields.map(([name]) => name.toLowerCase());
    for (const name of ['trailer', 'te', 'keep-alive', 'proxy-connection', 'a_b', 'a.b'])
      expect(names).not.toContain(name);
  });

  it.each(['Bearer secret', 'Basic bGVnYWN5'])(
    'on the protected lane has neither Authorization: %s nor any cookie',
    async (value) => {
      const fields = await seen('/api/x', `Authorization: ${value}`, 'Cookie: school_session=1', 'Accept: text/x');
      expect(folded(fields, 'authorization')).toEqual([]);
      expect(folded(fields, 'cookie')).toEqual([]);
      expect(folded(fields, 'accept')).toEqual(['text/x']);
    },
  );

  it.each([
    ['Bearer secret', []],
    ['bearer secret', []],
    ['DPoP secret', []],
    ['Bearer', []],
    ['Bearer,secret', []],
    ['Basic bGVnYWN5', ['Basic bGVnYWN5']],
    ['Bearers secret', ['Bearers secret']],
    ['Basic bGVnYWN5\r\nAuthorization: Basic c2Vjb25k', []],
  ])('to the site keeps Authorization: %s only if it is the site’s own', async (value, expected) => {
    expect(folded(await seen('/x', `Authorization: ${value}`), 'authorization')).toEqual(expected);
  });

  it.each([
    ['a=1; __Host-coursegate_member=x; b=2', ['a=1; b=2']],
    ['__Host-coursegate_member=x; b="q;r"', ['b="q;r"']],
    ['__Host-coursegate_member=x', []],
    ['a=1;;b=2;  c=%20 ', ['a=1;;b=2;  c=%20']],
    ['$Version=1; a=1 ;__Host-coursegate_member.sig=y', ['$Version=1; a=1 ']],
  ])('to the site keeps of Cookie: %s what is the site’s own, byte for byte', async (value, expected) => {
    expect(folded(await seen('/x', `Cookie: ${value}`), 'cookie').map((v) => v.trim())).toEqual(
      expected.map((v) => v.trim()),
    );
  });

  it('to the site has no cookie of the gate in a second Cookie field either', async () => {
    const fields = await seen('/x', 'Cookie: a=1', 'Cookie: __Host-coursegate_member=x; b=2');
    expect(folded(fields, 'cookie').join('; ')).toBe('a=1; b=2');
  });
});

describe('the path that was authorized is the path that the upstream gets', () => {
  it.each([
    ['/api/%7eme/%61', '/api/~me/a'],
    ['/x/%61?q=%61', '/x/a?q=%61'],
    ['http://gate.test/api/x?y', '/api/x?y'],
    ['/http://127.0.0.1:1/', undefined],
    ['//evil.test/x', undefined],
    ['/API/x', undefined],
    ['/x/../api/x', undefined],
  ])('%s', async (sent, expected) => {
    const before = upstream.requests.length;
    const answer = await gate.raw(`GET ${sent} HTTP/1.1\r\nHost: gate.test\r\nConnection: close\r\n\r\n`);
    expect(answer.slice(9, 12)).toBe(expected === undefined ? '400' : '200');
    expect(upstream.requests.slice(before).map((request) => request.target)).toEqual(
      expected === undefined ? [] : [expected],
    );
  });
});

describe('a response', () => {
  it.each([
    ['a line end', 200, 'a\r\nSet-Cookie: x=1'],
    ['a control character', 200, 'a\x01'],
    ['more than Latin-1', 200, 'a\u0100'],
    ['no final status', 199, 'a'],
    ['a status outside all classes', 600, 'a'],
  ])('with %s is invalid, even if the parser accepted it', (_what, status, value) => {
    const policy = {
      lane: 'site',
      responseField: () => 'pass',
      origin: 'http://a',
      internal: [{ upstream: 'b', url: new URL('http://b') }],
    } satisfies Partial<HeaderPolicy>;
    expect(() => responseHead(status, ['X', value], policy, false)).toThrow(
      expect.objectContaining({ code: 'upstream_invalid' }),
    );
  });

  const answerWith = async (path: string, ...lines: string[]) => {
    const raw = await startRawUpstream((socket) => {
      socket.end(
        ['HTTP/1.1 200 Fine', ...lines, 'Content-Length: 2', '', 'ok'].join('\r\n').replaceAll('UPSTREAM', raw.url),
      );
    });
    const own = await startGate(raw.url);
    const answer = await own.raw(`GET ${path} HTTP/1.1\r\nHost: gate.test\r\nConnection: close\r\n\r\n`);
    await own.close();
    await raw.close();
    return answer.split('\r\n\r\n')[0]?.split('\r\n').slice(1) ?? [];
  };

  const TELLTALE = [
    ...[
      'Server: Apache/2',
      'X-Powered-By: PHP/5',
      'Via: 1.1 inner',
      'X-Runtime: 1',
      'X-Debug-Token: 1',
      'X-Internal-Host: a',
    ],
    ...['X-Member-Id: m-2', 'X_Member_Id: m-2', 'Remote-User: root', 'Connection: x-secret, close', 'X-Secret: 1'],
    ...[
      'Keep-Alive: timeout=99',
      'Proxy-Authenticate: Basic',
      'Trailer: x',
      'TE: x',
      'Alt-Svc: h2=":1"',
      'X-Accel-Redirect: /a',
    ],
    ...['Set-Cookie2: a=1', 'X-AspNet-Version: 4', 'X-AspNetMvc-Version: 5', 'X-Sendfile: /a', 'HTTP2-Settings: a'],
    ...['X-Lighttpd-Send-File: /a', 'X-Reproxy-URL: http://a', 'Proxy: a', 'Upgrade: h2c', 'X-Request-Id: theirs'],
    ...['traceparent: theirs', 'tracestate: a=1', 'X-Coursegate-Assertion: a', 'Proxy-Status: inner'],
  ];

  it.each(['/api/x', '/x'])(
    'has no fields about the upstream’s internals, identity or connection: %s',
    async (path) => {
      const lines = await answerWith(path, ...TELLTALE, 'ETag: "1"', 'X-Accel-Buffering: no');
      const names = lines.map((line) => line.split(':')[0]?.toLowerCase());
      for (const line of TELLTALE) {
        const name = line.split(':')[0]?.toLowerCase();
        if (name !== 'connection') expect(names).not.toContain(name);
      }
      expect(lines).toContain('ETag: "1"');
      expect(lines).toContain('X-Accel-Buffering: no');
    },
  );

  it('on the protected lane has no cookies, challenge or CORS policy of the upstream', async () => {
    const own = ['Set-Cookie: school_session=1', 'WWW-Authenticate: Basic realm="x"', 'Access-Control-Allow-Origin: *'];
    const text = (await answerWith('/api/x', ...own)).join('\n');
    expect(text).not.toMatch(/set-cookie|www-authenticate|access-control/i);
    expect(text).toContain('Cache-Control: private, no-store');
  });

  it('on the site lane keeps those, except cookies named like the gate’s', async () => {
    const lines = await answerWith(
      '/x',
      'Set-Cookie: a=1; Path=/',
      'Set-Cookie: b=2',
      'Set-Cookie: __Host-coursegate_member=x',
      'WWW-Authenticate: Basic',
    );
    expect(lines.filter((line) => /^set-cookie/i.test(line))).toEqual(['Set-Cookie: a=1; Path=/', 'Set-Cookie: b=2']);
    expect(lines).toContain('WWW-Authenticate: Basic');
    expect(lines.join('\n')).not.toMatch(/cache-control/i);
  });

  it.each([
    ['public, max-age=60', 'Cache-Control: private, no-store'],
    ['max-age=60', 'Cache-Control: private, no-store'],
    ['private, max-age=60', 'Cache-Control: private, max-age=60'],
    ['no-store', 'Cache-Control: no-store'],
  ])('to a member with Cache-Control: %s stays out of shared caches', async (given, expected) => {
    expect(await answerWith('/api/x', `Cache-Control: ${given}`)).toContain(expected);
  });

  it('to an anonymous request may be cached, with Vary: Authorization', async () => {
    const lines = await answerWith('/open/x', 'Cache-Control: public, max-age=60');
    expect(lines).toContain('Cache-Control: public, max-age=60');
    expect(lines).toContain('Vary: Authorization');
  });

  it.each([
    ['UPSTREAM/login?a=b', 'http://gate.test/login?a=b'],
    ['//127.0.0.1/elsewhere', 'http://gate.test/elsewhere'],
    ['/relative', '/relative'],
    ['next', 'next'],
    ['https://other.example/x', 'https://other.example/x'],
  ])('with Location: %s gets %s', async (given, expected) => {
    for (const path of ['/api/x', '/x'])
      expect(await answerWith(path, `Location: ${given}`)).toContain(`Location: ${expected}`);
  });
});
