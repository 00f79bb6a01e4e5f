import { request as httpRequest } from 'node:http';
import { connect as connectTo } from 'node:net';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tellNginx } from '../../src/decisions/nginx-answer.ts';
import { createLog, type Log } from '../../src/operations/log.ts';
import { registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { connect } from '../support/connection.ts';
import { SAM, signIn } from '../support/member.ts';
import { freePort, startWorld, type World } from '../support/world.ts';

const SECRET = 'a-secret-of-the-gateway-0123456789';
const FIELDS = [
  'x-member-id',
  'x-member-email',
  'x-member-name',
  'x-member-scope',
  'x-client-id',
  'x-coursegate-assertion',
];

const ROUTES = [
  { match: 'GET|DELETE /api/v1/courses/**', upstream: 'school', scopes: ['courses:read'], forwardedBy: 'gateway' },
  { match: 'POST /api/v1/courses/**', upstream: 'school', scopes: ['courses:write'], forwardedBy: 'gateway' },
  {
    match: 'GET /api/v1/members/{member.id}/orders',
    upstream: 'school',
    scopes: ['courses:read'],
    forwardedBy: 'gateway',
  },
  { match: 'GET /open/**', upstream: 'school', scopes: ['courses:read'], anonymous: 'serve', forwardedBy: 'gateway' },
  {
    match: 'GET /few/**',
    upstream: 'school',
    scopes: [],
    forwardedBy: 'gateway',
    limits: { member: { requests: 1, per: '1m' } },
  },
  { match: 'GET /api/v1/orders/**', upstream: 'school', scopes: ['courses:read'] },
  { match: 'GET|POST /held/**', upstream: 'school', scopes: ['courses:write'], approve: true },
];

interface Answered {
  readonly status: number;
  readonly raw: readonly string[];
  readonly field: (name: string) => string | undefined;
  readonly text: string;
}

let world: World;
let port: number;
let token: string;
const logged = { warn: [] as string[], error: [] as string[] };

/** Sends a decision request with exactly these fields: alternating names and values. */
function ask(path: string, fields: readonly string[], method = 'GET'): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const headers = [...(fields.some((name) => /^host$/i.test(name)) ? [] : ['Host', 'gate']), ...fields];
    const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { rawHeaders: raw, statusCode: status = 0 } = response;
        const at = (name: string) => raw.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
        const field = (name: string) => (at(name) === -1 ? undefined : raw[at(name) + 1]);
        resolve({ status, raw, field, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject).end();
  });
}

const secret = ['X-Coursegate-Secret', SECRET];
const bearer = () => ['Authorization', `Bearer ${token}`];
const host = () => new URL(world.origin).host;
const original = (uri: string, method = 'GET') => [
  'X-Original-Method',
  method,
  'X-Original-Host',
  host(),
  'X-Original-URI',
  uri,
];
const forwarded = (uri: string, method = 'GET') => [
  'X-Forwarded-Method',
  method,
  'X-Forwarded-Host',
  host(),
  'X-Forwarded-Uri',
  uri,
];
const asHaproxy = (uri: string, method = 'GET', more: readonly string[] = []) =>
  ask('/decide/haproxy', [...secret, ...original(uri, method), ...more]);

beforeAll(async () => {
  port = await freePort();
  world = await startWorld({
    profile: 'A',
    environment: { DECISIONS: SECRET },
    log: recorded(),
    overrides: {
      listen: { decisions: { address: `127.0.0.1:${port}`, secret: { env: 'DECISIONS' } } },
      routes: ROUTES,
    },
  });
  token = (
    await connect(await registerApp(world.origin), { member: SAM, parameters: { scope: 'courses:read courses:write' } })
  ).access_token;
});

afterAll(() => world.close());

/** A log that keeps its warnings and errors. */
function recorded(): Log {
  const log = createLog('silent', 2);
  return new Proxy(log, {
    get: (target, name) =>
      name === 'warn' || name === 'error'
        ? (...given: unknown[]) => void logged[name].push(String(given.at(-1)))
        : Reflect.get(target, name),
  });
}

describe('an admitted request', () => {
  it.each([
    ['nginx', () => ask('/decide/nginx', [...secret, ...original('/api/v1/courses/7?a=b'), ...bearer()])],
    [
      'forward-auth',
      () => ask('/decide/forward-auth', [...secret, ...forwarded('/api/v1/courses/7?a=b'), ...bearer()]),
    ],
    ['HAProxy', () => asHaproxy('/api/v1/courses/7?a=b', 'GET', bearer())],
    ['Envoy', () => ask('/decide/envoy/api/v1/courses/7?a=b', [...secret, 'Host', host(), ...bearer()])],
  ])('gets a 200 with each identity field once, asked by %s', async (_, asked) => {
    const { status, raw, field, text } = await asked();
    expect(status).toBe(200);
    expect(text).toBe('');
    for (const name of FIELDS)
      expect(
        raw.filter((one) => one.toLowerCase() === name),
        name,
      ).toHaveLength(1);
    expect(field('x-member-id')).toBe('m-1001');
    const { htm, htu, exp = 0, iat = 0, aud } = decodeJwt(field('x-coursegate-assertion') ?? '');
    expect({ htm, htu, aud, life: exp - iat }).toEqual({
      htm: 'GET',
      htu: `${world.origin}/api/v1/courses/7`,
      aud: 'school',
      life: 60,
    });
  });

  it('gets an assertion for its own method and path only', async () => {
    const of = async (uri: string, method: string) =>
      decodeJwt((await asHaproxy(uri, method, bearer())).field('x-coursegate-assertion') ?? '');
    expect(await of('/api/v1/courses/8', 'GET')).toMatchObject({ htm: 'GET', htu: `${world.origin}/api/v1/courses/8` });
    expect(await of('/api/v1/courses/8', 'DELETE')).toMatchObject({ htm: 'DELETE' });
    expect(await of('/api/v1/courses/9', 'GET')).toMatchObject({ htu: `${world.origin}/api/v1/courses/9` });
  });

  it('has only the identity that applies, for nginx', async () => {
    const { status, raw } = await ask('/decide/nginx', [...secret, ...original('/open/x')]);
    expect(status).toBe(200);
    expect(raw.filter((name) => FIELDS.includes(name.toLowerCase()))).toEqual([]);
  });

  it('leaves the connection open for the next one', async () => {
    const socket = connectTo({ port, host: '127.0.0.1' });
    const fields = [...secret, 'Host', 'gate', ...original('/open/x')];
    const lines = fields.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${fields[at + 1]}`] : []));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    for (const answers of [1, 2]) {
      socket.write(`GET /decide/nginx HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      await expect.poll(() => text.match(/^HTTP\/1\.1 200 /gm)?.length).toBe(answers);
    }
    socket.destroy();
    expect(text).not.toMatch(/^connection:/im);
  });

  it('has all identity fields, empty, without a member', async () => {
    const { status, raw, field } = await asHaproxy('/open/x');
    expect(status).toBe(200);
    for (const name of FIELDS) {
      expect(
        raw.filter((one) => one.toLowerCase() === name),
        name,
      ).toHaveLength(1);
      expect(field(name)).toBe('');
    }
  });
});

describe('a refused request', () => {
  it('gets the challenge that it would get from the gate', async () => {
    const direct = await fetch(`${world.origin}/api/v1/courses/7`);
    const { status, field, text } = await asHaproxy('/api/v1/courses/7');
    expect(status).toBe(401);
    expect(field('www-authenticate')).toBe(direct.headers.get('www-authenticate'));
    expect(field('access-control-allow-origin')).toBe('*');
    expect(JSON.parse(text)).toEqual(await direct.json());
  });

  it('is a 403 for nginx, whose answer comes back for the client', async () => {
    const asked = await ask('/decide/nginx', [...secret, ...original('/api/v1/courses/7')]);
    expect({ status: asked.status, text: asked.text }).toEqual({ status: 403, text: '' });
    for (const name of ['www-authenticate', 'access-control-allow-origin', 'x-request-id'])
      expect(asked.field(name), name).toBeUndefined();
    const given = await ask('/answer', [...secret, 'X-Coursegate-Answer', asked.field('x-coursegate-answer') ?? '']);
    const plain = await asHaproxy('/api/v1/courses/7');
    expect(given.status).toBe(401);
    expect(given.field('www-authenticate')).toBe(plain.field('www-authenticate'));
    expect(given.text).toBe(plain.text);
  });

  it('goes without its body for nginx if it is too long for a field', () => {
    const headers = { 'content-type': 'text/plain', 'content-length': '9' };
    const told = (body: string) => {
      const { status, headers: fields } = tellNginx({ kind: 'refused', answer: { status: 403, headers, body } });
      const text = Buffer.from((fields as Record<string, string>)['X-Coursegate-Answer'] ?? '', 'base64url').toString();
      return [status, JSON.parse(text)];
    };
    expect(told('x'.repeat(2500))).toEqual([403, [403, headers, 'x'.repeat(2500)]]);
    expect(told('x'.repeat(2700))).toEqual([403, [403, { ...headers, 'content-length': '0' }, '']]);
  });

  it('gets 403 with a challenge for a scope that it lacks, and 405 for a method', async () => {
    const app = await registerApp(world.origin);
    const { access_token } = await connect(app, { parameters: { scope: 'openid courses:read' } });
    const with_ = ['Authorization', `Bearer ${access_token}`, 'Content-Type', 'application/json'];
    const lacking = await asHaproxy('/api/v1/courses/7', 'POST', with_);
    expect(lacking.status).toBe(403);
    expect(lacking.field('www-authenticate')).toContain('error="insufficient_scope"');
    const wrong = await asHaproxy('/api/v1/courses/7', 'PATCH', with_);
    expect({ status: wrong.status, allow: wrong.field('allow') }).toEqual({
      status: 405,
      allow: 'GET, HEAD, DELETE, POST',
    });
  });

  it('gets 403 for the record of another member', async () => {
    expect((await asHaproxy('/api/v1/members/m-1001/orders', 'GET', bearer())).status).toBe(200);
    expect((await asHaproxy('/api/v1/members/m-1002/orders', 'GET', bearer())).status).toBe(403);
  });

  it('gets 429 beyond a limit', async () => {
    expect((await asHaproxy('/few/a', 'GET', bearer())).status).toBe(200);
    const { status, field } = await asHaproxy('/few/a', 'GET', bearer());
    expect(status).toBe(429);
    expect(Number(field('retry-after'))).toBeGreaterThan(0);
  });

  it('gets 404 where coursegate itself forwards, or where there is nothing', async () => {
    expect((await asHaproxy('/api/v1/orders/1', 'GET', bearer())).status).toBe(404);
    expect((await asHaproxy('/mcp', 'POST', ['Content-Type', 'application/json'])).status).toBe(404);
    expect((await asHaproxy('/elsewhere', 'GET', bearer())).status).toBe(404);
  });

  it('gets 404 where members approve each request, also once they have, and is held by coursegate', async () => {
    const json = [...bearer(), 'Content-Type', 'application/json'];
    const decided = async () => [
      (await ask('/decide/nginx', [...secret, ...original('/held/1', 'POST'), ...json])).status,
      (await ask('/decide/forward-auth', [...secret, ...forwarded('/held/1', 'POST'), ...json])).status,
      (await asHaproxy('/held/1', 'POST', json)).status,
      (await ask('/decide/envoy/held/1', [...secret, 'Host', host(), ...json], 'POST')).status,
      (await asHaproxy('/held/1', 'GET', bearer())).status,
    ];
    const sent = () =>
      fetch(`${world.origin}/held/1`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      });
    // nginx takes 403 for every refusal.
    const REFUSED = [403, 404, 404, 404, 404];
    expect(await decided()).toEqual(REFUSED);
    const held = await sent();
    const { code, approval } = (await held.json()) as { code: string; approval: { url: string } };
    expect([held.status, code]).toEqual([403, 'approval_required']);
    const sam = createBrowser();
    await signIn(sam, world.origin, SAM);
    await sam.submit(await sam.open(approval.url), { decision: 'approve' });
    expect(await decided()).toEqual(REFUSED);
    // Its approval was not used up: the school is asked, and has nothing there.
    expect((await sent()).status).toBe(404);
    expect((await sent()).status).toBe(403);
  });

  it.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'gets 415 for a body of type %s, which could change the method',
    async (type) => {
      expect((await asHaproxy('/api/v1/courses/7', 'POST', [...bearer(), 'Content-Type', type])).status).toBe(415);
    },
  );

  it('gets 415 for a POST without a type, and 400 for a method in the query', async () => {
    expect((await asHaproxy('/api/v1/courses/7', 'POST', bearer())).status).toBe(415);
    expect((await asHaproxy('/api/v1/courses/7?_method=PATCH', 'GET', bearer())).status).toBe(400);
  });
});

describe('what a gateway says about the request', () => {
  const BAD: readonly (readonly [string, () => readonly string[]])[] = [
    ['no method', () => ['X-Original-Host', host(), 'X-Original-URI', '/api/v1/courses/7']],
    ['no host', () => ['X-Original-Method', 'GET', 'X-Original-URI', '/api/v1/courses/7']],
    ['no target', () => ['X-Original-Method', 'GET', 'X-Original-Host', host()]],
    ['two methods', () => [...original('/api/v1/courses/7'), 'X-Original-Method', 'GET']],
    ['two hosts', () => [...original('/api/v1/courses/7'), 'X-Original-Host', host()]],
    ['two targets', () => [...original('/api/v1/courses/7'), 'X-Original-URI', '/api/v1/courses/7']],
    [
      'another host',
      () => ['X-Original-Method', 'GET', 'X-Original-Host', 'evil.test', 'X-Original-URI', '/api/v1/courses/7'],
    ],
    ['a method in lower case', () => original('/api/v1/courses/7', 'get')],
    ['the absolute form', () => original(`${world.origin}/api/v1/courses/7`)],
    ['dot segments', () => original('/open/../api/v1/courses/7')],
    ['encoded dot segments', () => original('/open/%2e%2e/api/v1/courses/7')],
    ['an empty segment', () => original('//api/v1/courses/7')],
    ['an encoded slash', () => original('/api/v1/courses%2f7')],
    ['a path parameter', () => original('/open/..;/api/v1/courses/7')],
    ['an escape that is not needed', () => original('/api/v1/%63ourses/7')],
    ['an escape in lower case', () => original('/api/v1/courses/%c3%a9')],
    ['a fragment', () => original('/api/v1/courses/7#x')],
    ['fields of another family', () => forwarded('/api/v1/courses/7')],
  ];

  it.each(BAD)('is refused with 400: %s', async (_, fields) => {
    expect((await ask('/decide/haproxy', [...secret, ...fields(), ...bearer()])).status).toBe(400);
  });

  it('is refused with 414 if the target is too long, without the end of the connection', async () => {
    const { status, field } = await asHaproxy(`/open/x?${'a=b&'.repeat(5_000)}`, 'GET', ['Connection', 'keep-alive']);
    expect({ status, connection: field('connection') }).toEqual({ status: 414, connection: 'keep-alive' });
  });

  it('is not taken from the query of the decision request', async () => {
    const { status } = await ask(`/decide/forward-auth?uri=/api/v1/courses/7`, [...secret, ...bearer()]);
    expect(status).toBe(400);
    const judged = await ask('/decide/forward-auth?rd=/x', [...secret, ...forwarded('/api/v1/courses/7'), ...bearer()]);
    expect(judged.status).toBe(200);
  });

  it('is refused for a preflight, which is for the public listener', async () => {
    expect((await asHaproxy('/api/v1/courses/7', 'OPTIONS', ['Origin', 'https://a.test'])).status).toBe(405);
    const preflight = ['Host', host(), 'Origin', 'https://a.test', 'Access-Control-Request-Method', 'GET'];
    expect((await ask('/decide/envoy/api/v1/courses/7', [...secret, ...preflight], 'OPTIONS')).status).toBe(405);
  });

  it.each([
    ...[
      'X-Member-Id',
      'X_Member_Id',
      'X.Member.Id',
      'x-mEmber_id',
      'X-Forwarded-User',
      'Remote-User',
      'X_Forwarded_Host',
    ],
    ...[
      'X-Auth-Request-Email',
      'X-HTTP-Method-Override',
      'X-Forwarded-Prefix',
      'X-Rewrite-URL',
      'X-Coursegate-Assertion',
    ],
  ])('is refused with a field that the client can only have forged: %s', async (name) => {
    expect((await asHaproxy('/api/v1/courses/7', 'GET', [...bearer(), name, 'admin'])).status).toBe(400);
  });
});

describe('the decision listener', () => {
  it.each([
    ['none', []],
    ['a wrong one', ['X-Coursegate-Secret', 'another-secret-of-nobody-0123456789']],
    ['two', ['X-Coursegate-Secret', SECRET, 'X-Coursegate-Secret', SECRET]],
  ])('decides for no one without the secret: %s', async (_, given) => {
    const { status, field } = await ask('/decide/haproxy', [...given, ...original('/open/x')]);
    expect({ status, retry: field('retry-after') }).toEqual({ status: 503, retry: '5' });
    expect((await ask('/answer', given)).status).toBe(503);
    // One warning a minute, however many ask.
    expect(logged.warn.filter((line) => line.includes('another secret'))).toHaveLength(1);
    expect(logged.error).toEqual([]);
  });

  it('lets nothing pass at other addresses, or with an answer that is none of ours', async () => {
    expect((await ask('/decide/unknown', [...secret, ...original('/open/x')])).status).toBe(503);
    expect((await ask('/open/x', secret)).status).toBe(503);
    expect((await ask('/answer', secret)).status).toBe(503);
    const packed = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const bad of [
      'x',
      packed([200, {}, '']),
      packed([401, { 'x-a': 'b\nc' }, '']),
      packed([401, {}, 7]),
      packed([600, {}, '']),
      packed(['401', {}, '']),
      packed([401, null, '']),
      packed([401, { 'X-A': 'b' }, '']),
      packed([401, { 'x-a': 7 }, '']),
      packed([401, { 'x-a': '\u0100' }, '']),
      packed(null),
    ])
      expect((await ask('/answer', [...secret, 'X-Coursegate-Answer', bad])).status).toBe(503);
  });

  it('warns about a gateway whose configuration is out of date', async () => {
    // Once a minute: the first of these tests was the cause.
    await ask('/decide/haproxy', [...secret, ...original('/open/x'), 'X-Coursegate-Config', 'of-yesterday']);
    expect(logged.warn.filter((line) => line.includes('out of date'))).toHaveLength(1);
  });

  it('cannot be asked over the public listener', async () => {
    const response = await fetch(`${world.origin}/decide/haproxy`, { headers: { 'x-original-uri': '/open/x' } });
    expect(response.status).toBe(404);
  });
});
