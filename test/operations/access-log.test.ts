import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { shownPath } from '../../src/operations/shown-path.ts';
import { authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { approve } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

type Line = Readonly<Record<string, unknown>>;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-access-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a gate with an access log, calls a function, and stops the gate. Returns the parsed lines. */
async function linesOf(
  log: Readonly<Record<string, unknown>>,
  work: (world: World) => Promise<void>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<readonly Line[]> {
  const file = join(folder, `${Math.random()}.log`);
  const descriptor = openSync(file, 'a');
  const world = await startWorld({
    profile: 'B',
    accessDescriptor: descriptor,
    overrides: { log: { access: true, ...log }, ...more },
  });
  try {
    await work(world);
  } finally {
    await world.close();
    closeSync(descriptor);
  }
  const text = readFileSync(file, 'utf8');
  if (text !== '') expect(text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

async function memberToken(world: World, scope?: string): Promise<string> {
  const app = await registerApp(world.origin);
  const request = await authorizationRequest(app, scope === undefined ? {} : { scope });
  return (await redeem(app, request, await approve(request.url, app.redirectUri))).access_token;
}

describe('the access log', () => {
  let upstream: RecordingUpstream;
  beforeAll(async () => {
    upstream = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '11' });
      response.end('{"ok":true}');
    });
  });
  afterAll(() => upstream.close());

  it('logs the request, the caller, the outcome, the duration and the upstream of a member’s request', async () => {
    const before = Date.now();
    let requestId: string | null = '';
    const lines = await linesOf(
      {},
      async (world) => {
        const token = await memberToken(world);
        const answer = await fetch(`${world.origin}/api/v1/courses/42?page=2`, {
          headers: { ...bearer(token), traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
        });
        requestId = answer.headers.get('x-request-id');
        await answer.text();
      },
      { listen: { trustedProxies: ['127.0.0.1', '::1'] } },
    );
    const line = lines.find(({ path }) => path === '/api/v1/courses/42') ?? {};
    expect(line).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      method: 'GET',
      route: '/api/v1/courses/**',
      path: '/api/v1/courses/42',
      status: expect.any(Number),
      bytes: expect.any(Number),
      ms: expect.any(Number),
      upstream: 'school',
      upstream_ms: expect.any(Number),
      client: expect.stringMatching(/./),
      member: 'm-1001',
      verdict: 'admitted',
      request_id: requestId,
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      address: expect.stringMatching(/127\.0\.0\.1|::1/),
    });
    expect(Date.parse(String(line.time))).toBeGreaterThanOrEqual(before);
    expect(line.bytes).toBeGreaterThan(100);
    expect(line.ms).toBeGreaterThanOrEqual(Number(line.upstream_ms));
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    { asked: 'no token', path: '/api/v1/whoami', headers: {}, verdict: 'anonymous', reason: undefined },
    {
      asked: 'an unknown token',
      path: '/api/v1/whoami',
      headers: bearer('x'.repeat(43)),
      verdict: 'refused',
      reason: 'invalid_token',
    },
    {
      asked: 'userinfo without a token',
      path: '/api/oauth/userinfo',
      headers: {},
      verdict: 'refused',
      reason: 'no_token',
    },
    { asked: 'a page on the site', path: '/somewhere', headers: {}, verdict: 'site', reason: undefined },
    {
      asked: 'a public document',
      path: '/.well-known/oauth-authorization-server',
      headers: {},
      verdict: 'public',
      reason: undefined,
    },
    {
      asked: 'an unknown app',
      path: '/oauth/authorize',
      headers: {},
      verdict: 'refused',
      reason: 'invalid_request',
    },
    {
      asked: 'an unsupported method',
      path: '/api/oauth/token',
      headers: {},
      verdict: 'failed',
      reason: 'method_not_allowed',
    },
    {
      asked: 'a path in the wrong case',
      path: '/api/v1/WHOAMI',
      headers: {},
      verdict: 'failed',
      reason: 'not_found',
    },
    { asked: 'an invalid path', path: '/a//b', headers: {}, verdict: 'failed', reason: 'invalid_request' },
  ])('logs the verdict and the reason for $asked', async ({ path, headers, verdict, reason }) => {
    const lines = await linesOf(
      {},
      async (world) => {
        await rawRequest(world.origin, { path: `${path}?a=1`, headers });
      },
      { upstreams: { school: { url: upstream.url } } },
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ path, verdict, trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(lines[0]?.reason).toBe(reason);
  });

  it('names the app and the member when a valid token lacks the scope', async () => {
    const lines = await linesOf({}, async (world) => {
      const token = await memberToken(world, 'openid courses:read');
      await rawRequest(world.origin, { path: '/api/v1/orders', headers: bearer(token) });
    });
    expect(lines.find(({ path }) => path === '/api/v1/orders')).toMatchObject({
      status: 403,
      client: expect.stringMatching(/./),
      member: 'm-1001',
      verdict: 'refused',
      reason: 'insufficient_scope',
    });
  });

  it('logs the OAuth error code for refused and failed requests', async () => {
    const lines = await linesOf({}, async (world) => {
      const post = (body: string, headers = {}) =>
        fetch(`${world.origin}/api/oauth/token`, { method: 'POST', body, headers: { ...FORM, ...headers } });
      await (await post('grant_type=authorization_code&code=none&client_id=nobody')).text();
      await (await post('grant_type=authorization_code', { 'content-type': 'text/plain' })).text();
      await (await fetch(`${world.origin}/api/oauth/token`, { method: 'PUT' })).text();
      await (await fetch(`${world.origin}/openapi.json`, { method: 'PUT' })).text();
    });
    expect(lines.map(({ status, verdict, reason, oauth_error }) => [status, verdict, reason, oauth_error])).toEqual([
      [401, 'refused', 'invalid_client', undefined],
      [400, 'failed', 'invalid_request', undefined],
      [405, 'failed', 'method_not_allowed', 'invalid_request'],
      [405, 'failed', 'method_not_allowed', undefined],
    ]);
  });

  it('logs a request to an unreachable upstream, without upstream_ms', async () => {
    const lines = await linesOf(
      {},
      async (world) => {
        await rawRequest(world.origin, { path: '/api/v1/whoami' });
        await rawRequest(world.origin, { path: '/a-page-of-the-site' });
      },
      { upstreams: { school: { url: 'http://127.0.0.1:1' } } },
    );
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toMatchObject({
        status: 502,
        upstream: 'school',
        verdict: 'failed',
        reason: 'upstream_unreachable',
      });
      expect(line).not.toHaveProperty('upstream_ms');
    }
    expect(lines[1]).toMatchObject({ route: 'site' });
  });

  it.each([
    ['/api/v1/whoami', {}],
    [
      '/mcp',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_courses","arguments":{}}}',
      },
    ],
  ])('logs status 0 at %s for a client that disconnected before the response', async (path, sent) => {
    const silent = await startRecordingUpstream(() => undefined);
    const lines = await linesOf(
      {},
      async (world) => {
        const leave = new AbortController();
        const asked = fetch(world.origin + path, { ...sent, signal: leave.signal }).catch(() => undefined);
        await expect.poll(() => silent.requests.length).toBe(1);
        leave.abort();
        await asked;
        await silent.last().closed;
      },
      { upstreams: { school: { url: silent.url } } },
    );
    await silent.close();
    expect(lines).toMatchObject([{ status: 0, path, bytes: 0 }]);
  });

  it('logs a WebSocket when it closes, and one that was refused', async () => {
    const lines = await linesOf({}, async (world) => {
      const socket = new WebSocket(`${world.origin.replace('http', 'ws')}/ws/echo`);
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      socket.close();
      await new Promise((resolve) => socket.once('close', resolve));
      const foreign = new WebSocket(`${world.origin.replace('http', 'ws')}/ws/echo`, {
        origin: 'https://evil.example',
      });
      await new Promise((resolve) => foreign.once('error', resolve));
    });
    expect(lines.map(({ status, path, route, upstream: name }) => [status, path, route, name])).toEqual([
      [101, '/ws/echo', 'site', 'school'],
      [403, '/ws/echo', 'site', 'school'],
    ]);
  });

  it('cannot be forged with characters in a path', async () => {
    const lines = await linesOf(
      {},
      async (world) => {
        for (const path of ['/a%0a%22%7d', '/%c2%9b31m', '/a"b', '/a\\b', '/a%e2%80%a8b', '/\u009b\u00ff']) {
          await rawRequest(world.origin, { path }).catch(() => undefined);
        }
      },
      { upstreams: { school: { url: upstream.url } } },
    );
    expect(lines.length).toBeGreaterThanOrEqual(5);
    for (const line of lines) {
      expect(Object.keys(line).slice(0, 5)).toEqual(['time', 'method', 'route', 'path', 'status']);
    }
  });

  it.each([
    ['/a/abcdefghijklmnopqrs1', '/a/***'],
    ['/abcdefghijklmnopqrs1/a', '/***/a'],
    ['/abcdefghijklmnopqr1/abcdefghijklmnopqrstu', '/abcdefghijklmnopqr1/abcdefghijklmnopqrstu'],
    ['/abcdefghijklmnopqrSt/ABCDEFGHIJKLMNOPQRST', '/***/ABCDEFGHIJKLMNOPQRST'],
    [`/${'a'.repeat(63)}/${'b'.repeat(64)}`, `/${'a'.repeat(63)}/***`],
    [`/${'w/'.repeat(255)}x`, `/${'w/'.repeat(255)}x`],
    [`/${'w/'.repeat(255)}xy`, `/${'w/'.repeat(255)}x***`],
  ])('shows %s as %s', (path, shown) => {
    expect(shownPath(path)).toBe(shown);
  });

  it('masks path segments that could be secrets, and truncates long paths', async () => {
    const secret = 'dGhpcyBpcyBhIHRva2Vu0123456789';
    const paths = [`/reset/${secret}/now`, '/blog/an-introduction-to-composition', `/${'w/'.repeat(1000)}x`];
    const lines = await linesOf(
      {},
      async (world) => {
        for (const path of paths) await rawRequest(world.origin, { path });
      },
      { upstreams: { school: { url: upstream.url } } },
    );
    expect(lines[0]?.path).toBe('/reset/***/now');
    expect(lines[1]?.path).toBe('/blog/an-introduction-to-composition');
    expect(String(lines[2]?.path).length).toBeLessThan(600);
  });

  it.each([
    { member: 'hash', named: /^[A-Za-z0-9_-]{22}$/ },
    { member: 'none', named: undefined },
  ])('identifies members as configured with member: $member', async ({ member, named }) => {
    const lines = await linesOf({ member }, async (world) => {
      const token = await memberToken(world);
      for (const _ of [1, 2]) await (await fetch(`${world.origin}/api/v1/whoami`, { headers: bearer(token) })).text();
    });
    const members = lines.filter(({ path }) => path === '/api/v1/whoami').map((line) => line.member);
    expect(members).toHaveLength(2);
    expect(members[0]).toBe(members[1]);
    if (named === undefined) expect(members[0]).toBeUndefined();
    else {
      expect(members[0]).toMatch(named);
      // The hash has a key, so that a small number cannot be found by trial.
      expect(members[0]).not.toBe(createHash('sha256').update('m-1001').digest('base64url').slice(0, 22));
    }
  });

  it('writes nothing when access is false', async () => {
    expect(
      await linesOf({ access: false }, async (world) => {
        await rawRequest(world.origin, { path: '/nothing' });
      }),
    ).toEqual([]);
  });
});
