import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openExtAuthz } from '../../src/decisions/grpc/service.ts';
import { RequestsInFlight } from '../../src/http/requests-in-flight.ts';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { SAM } from '../support/member.ts';
import { freePort, startWorld, type World } from '../support/world.ts';
import { type Checked, type ExtAuthzClient, extAuthzClient, valuesIn } from './support/ext-authz-client.ts';

const SECRET = 'a-secret-of-the-gateway-0123456789';
const THEIRS = { upstream: 'school', forwardedBy: 'gateway' };
const ROUTES = [
  { match: 'GET|POST /api/v1/courses/**', ...THEIRS, scopes: ['courses:read'] },
  { match: 'GET /api/v1/progress/**', ...THEIRS, scopes: ['courses:write'] },
  { match: 'GET /open/**', ...THEIRS, anonymous: 'serve' },
  { match: 'GET /few/**', ...THEIRS, anonymous: 'serve', limits: { address: { requests: 1, per: '1h' } } },
  { match: 'GET /scarce/**', ...THEIRS, scopes: ['courses:read'], limits: { member: { requests: 1, per: '1h' } } },
  { match: 'GET /api/v1/orders/**', upstream: 'school', scopes: ['courses:read'] },
];

type Field = readonly [name: string, value: string];

let world: World;
let client: ExtAuthzClient;
let token: string;

beforeAll(async () => {
  const port = await freePort();
  world = await startWorld({
    profile: 'A',
    environment: { DECISIONS: SECRET },
    overrides: {
      listen: {
        decisions: {
          address: `127.0.0.1:${await freePort()}`,
          grpc: `127.0.0.1:${port}`,
          secret: { env: 'DECISIONS' },
        },
      },
      routes: ROUTES,
      account: undefined,
    },
  });
  client = extAuthzClient(`127.0.0.1:${port}`);
  const parameters = { scope: 'openid courses:read' };
  token = (await connect(await registerApp(world.origin), { member: SAM, parameters })).access_token;
});

afterAll(async () => {
  client.close();
  await world.close();
});

const host = () => new URL(world.origin).host;
const withToken = (): Field => ['authorization', `Bearer ${token}`];

/** A CheckRequest as Envoy writes it with `encode_raw_headers`. */
function about(path: string, fields: readonly Field[] = [], { method = 'GET', from = '203.0.113.7' } = {}) {
  const all: readonly Field[] = [[':authority', host()], [':path', path], [':method', method], ...fields];
  const headers = all.map(([key, value]) => ({ key, raw_value: Buffer.from(value, 'latin1') }));
  return {
    attributes: {
      source: { address: { socket_address: { address: from } } },
      request: { http: { method, path, host: host(), header_map: { headers } } },
    },
  };
}

const check = (...given: Parameters<typeof about>) => client.check(about(...given), { 'x-coursegate-secret': SECRET });
const statusOf = ({ status, denied_response }: Checked) => (status.code === 0 ? 200 : denied_response?.status.code);

describe('a call of Check for an admitted request', () => {
  it('sets the identity, bound to method and path, and the fields of the gate in place of the client’s', async () => {
    const { status, ok_response: ok } = await check('/api/v1/courses/7?a=b', [
      withToken(),
      ['x-member-id', 'admin'],
      ['x-forwarded-for', '198.51.100.9'],
      ['x-request-id', 'request-7'],
    ]);
    expect(status.code).toBe(0);
    expect(ok?.headers.every(({ append_action }) => append_action === 'OVERWRITE_IF_EXISTS_OR_ADD')).toBe(true);
    expect(valuesIn(ok?.headers, 'x-member-id')).toEqual(['m-1001']);
    expect(valuesIn(ok?.headers, 'x-member-scope')).toEqual([expect.stringContaining('courses:read')]);
    expect(decodeJwt(valuesIn(ok?.headers, 'x-coursegate-assertion')[0] ?? '')).toMatchObject({
      htm: 'GET',
      htu: `${world.origin}/api/v1/courses/7`,
    });
    // The client has sent an X-Forwarded-For of its own.
    expect(valuesIn(ok?.headers, 'x-forwarded-for')).toEqual(['203.0.113.7']);
    expect(valuesIn(ok?.headers, 'x-forwarded-host')).toEqual([host()]);
    expect(valuesIn(ok?.headers, 'x-request-id')).toEqual(['request-7']);
    expect(valuesIn(ok?.response_headers_to_add, 'x-request-id')).toEqual(['request-7']);
    expect(valuesIn(ok?.response_headers_to_add, 'access-control-allow-origin')).toEqual(['*']);
    expect(ok?.headers_to_remove).not.toContain('x-member-id');
    expect(ok?.headers_to_remove).toContain('authorization');
  });

  it('removes every field that the gate would not send to the backend, in whatever spelling, and no other', async () => {
    const passed: Field[] = [
      ['accept', 'text/html'],
      ['content-type', 'application/json'],
      ['if-none-match', '"a"'],
      ['content-length', '2'],
    ];
    const removed: Field[] = [
      ['cookie', 'a=b'],
      ['dpop', 'x'],
      ['x_member_id', 'admin'],
      ['x.member.id', 'admin'],
      ['x-member~id', 'admin'],
      ['remote-user', 'admin'],
      ['x-original-url', '/admin'],
      ['x-http-method-override', 'DELETE'],
      ['x-envoy-original-path', '/admin'],
      ['x-site-trusts-this', 'yes'],
      ['x-coursegate-secret-of-mine', 'x'],
    ];
    const { ok_response: ok } = await check('/open/x', [...passed, ...removed]);
    const names = ['x-member-id', 'x-member-email', 'x-member-name', 'x-member-scope', 'x-client-id'];
    expect(ok?.headers_to_remove.toSorted()).toEqual(
      [...removed.map(([name]) => name), ...names, 'x-coursegate-assertion'].toSorted(),
    );
    expect(ok?.headers.filter(({ header }) => /member|client-id|coursegate/.test(header.key))).toEqual([]);
  });

  it('counts limits for the address that connected to Envoy, and is no longer open afterwards', async () => {
    const from = '203.0.113.50';
    expect(statusOf(await check('/few/a', [['x-forwarded-for', '192.0.2.1']], { from }))).toBe(200);
    expect(statusOf(await check('/few/a', [['x-forwarded-for', '192.0.2.2']], { from }))).toBe(429);
    expect(statusOf(await check('/few/a', [], { from: '203.0.113.99' }))).toBe(200);
    expect(await metrics()).toMatch(/^coursegate_requests_in_flight 0$/m);
  });
});

const metrics = async () => (await fetch(`${world.admin}/metrics`)).text();

describe('a call of Check for a refused request', () => {
  it('has the whole answer of the gate, which is in the metrics with its status', async () => {
    const direct = await fetch(`${world.origin}/api/v1/courses/7`);
    const checked = await check('/api/v1/courses/7');
    const denied = checked.denied_response;
    expect([checked.status.code === 0, denied?.status.code]).toEqual([false, 401]);
    expect(valuesIn(denied?.headers, 'www-authenticate')).toEqual([direct.headers.get('www-authenticate')]);
    expect(valuesIn(denied?.headers, 'access-control-allow-origin')).toEqual(['*']);
    expect(valuesIn(denied?.headers, 'content-length')).toEqual([]);
    expect(JSON.parse(denied?.body ?? '')).toEqual(await direct.json());
    await expect.poll(metrics).toMatch(/^coursegate_http_request_duration_seconds_count\{.*status="4\d\d".*\} [1-9]/m);
  });

  it('keeps its status, challenge and Retry-After', async () => {
    const lacking = (await check('/api/v1/progress/1', [withToken()])).denied_response;
    expect(lacking?.status.code).toBe(403);
    expect(valuesIn(lacking?.headers, 'www-authenticate')[0]).toContain('error="insufficient_scope"');
    expect(statusOf(await check('/scarce/a', [withToken()]))).toBe(200);
    const limited = (await check('/scarce/a', [withToken()])).denied_response;
    expect(limited?.status.code).toBe(429);
    expect(Number(valuesIn(limited?.headers, 'retry-after')[0])).toBeGreaterThan(0);
    const wrong = (await check('/open/x', [], { method: 'PATCH' })).denied_response;
    expect([wrong?.status.code, valuesIn(wrong?.headers, 'allow')]).toEqual([405, ['GET, HEAD']]);
  });

  it.each([
    ['a route that coursegate forwards', '/api/v1/orders/1', {}, 404],
    ['nothing', '/elsewhere', {}, 404],
    ['dot segments', '/open/../api/v1/courses/7', {}, 400],
    ['an escape that is not needed', '/api/v1/%63ourses/7', {}, 400],
    ['an encoded slash', '/api/v1/courses%2f7', {}, 400],
    ['a path parameter', '/open/..;/api/v1/courses/7', {}, 400],
    ['the absolute form', 'http://evil.test/open/x', {}, 400],
    ['a method in lower case', '/open/x', { method: 'get' }, 400],
    ['a preflight', '/open/x', { method: 'OPTIONS' }, 405],
  ])('is refused for %s', async (_, path, options, status) => {
    expect(statusOf(await check(path, [withToken()], options))).toBe(status);
  });

  it('is refused if a credential or the host is repeated, also if Envoy has joined them', async () => {
    const described = async (given: Promise<Checked>) =>
      JSON.parse((await given).denied_response?.body ?? '{}').error_description;
    const twice = 'more than one Authorization header';
    expect(await described(check('/api/v1/courses/7', [withToken(), withToken()]))).toBe(twice);
    expect(await described(check('/api/v1/courses/7', [['authorization', `Bearer ${token},Bearer ${token}`]]))).toBe(
      twice,
    );
    expect(statusOf(await check('/open/x', [['host', host()]]))).toBe(400);
  });

  it('is decided about without raw fields', async () => {
    const http = {
      method: 'GET',
      path: '/api/v1/courses/7',
      host: host(),
      headers: { authorization: `Bearer ${token}` },
    };
    const { ok_response: ok } = await client.check(
      { attributes: { request: { http } } },
      { 'x-coursegate-secret': SECRET },
    );
    expect(valuesIn(ok?.headers, 'x-member-id')).toEqual(['m-1001']);
  });
});

describe('the gRPC listener', () => {
  it.each([
    ['none', {}],
    ['a wrong one', { 'x-coursegate-secret': 'another-secret-of-nobody-0123456789' }],
    ['two', { 'x-coursegate-secret': [SECRET, SECRET] }],
  ])('decides for no one without the secret: %s', async (_, metadata) => {
    const { denied_response: denied } = await client.check(about('/open/x'), metadata);
    expect([denied?.status.code, valuesIn(denied?.headers, 'retry-after')]).toEqual([503, ['5']]);
  });

  it('takes the secret from the request of a gateway that cannot send metadata, and removes it', async () => {
    const { status, ok_response: ok } = await client.check(about('/open/x', [['x-coursegate-secret', SECRET]]));
    expect(status.code).toBe(0);
    expect(ok?.headers_to_remove).toContain('x-coursegate-secret');
  });

  it.each([
    ['nothing', {}],
    ['no request', { attributes: { request: {} } }],
    ['no method', { attributes: { request: { http: { path: '/open/x', host: 'localhost' } } } }],
    ['no path', { attributes: { request: { http: { method: 'GET', host: 'localhost' } } } }],
    ['no host', { attributes: { request: { http: { path: '/open/x', method: 'GET' } } } }],
  ])('lets nothing pass for a message that says %s', async (_, message) => {
    expect(statusOf(await client.check(message, { 'x-coursegate-secret': SECRET }))).toBe(503);
  });

  it('refuses a message that is too large', async () => {
    await expect(check('/open/x', [['x-large', 'x'.repeat(300_000)]])).rejects.toThrow(/RESOURCE_EXHAUSTED/);
  });

  it('refuses with 503 what it cannot decide about in time, and ends while Envoy is connected', async () => {
    const { server, drain } = await openExtAuthz({
      inFlight: new RequestsInFlight(),
      decisions: () => ({
        decide: () => undefined,
        mayAsk: () => true,
        forwardingOf: () => ({ set: [], remove: [], respond: [] }),
        request: () => undefined,
      }),
      origin: world.origin,
      answerWithin: 0.02,
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const asking = extAuthzClient(`127.0.0.1:${port}`);
    expect(statusOf(await asking.check(about('/open/x')))).toBe(503);
    await drain(0.2);
    await expect(asking.check(about('/open/x'))).rejects.toThrow(/UNAVAILABLE/);
    asking.close();
  });
});
