import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAssertionTrial } from '../../src/upstream/assertion-trial.ts';
import { createPools, type Pools } from '../../src/upstream/pools.ts';
import { load } from '../config/fixture.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';

const ORIGIN = 'https://school.example';
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

let backend: RecordingUpstream;
let pools: Pools | undefined;
beforeAll(async () => {
  backend = await startRecordingUpstream();
});
beforeEach(async () => {
  await pools?.close();
  (backend.requests as unknown[]).length = 0;
});
afterAll(async () => {
  await pools?.close();
  await backend.close();
});

/** Tries assertions with these routes and tools. Returns the trials, and what the backend received. */
async function tried(settings: Readonly<Record<string, unknown>>, member?: string) {
  const { config } = await load(
    JSON.stringify({
      version: 1,
      profile: 'B',
      origin: ORIGIN,
      store: { kind: 'memory' },
      login: { kind: 'session', upstream: 'school', whoami: { path: '/me' }, loginUrl: '/login', cookies: ['sid'] },
      upstreams: { school: { url: `${backend.url}/base` } },
      site: { upstream: 'school' },
      ...settings,
    }),
    { environment: { GATEWAY_SECRET: 'a-secret-of-the-gateway' } },
  );
  pools = createPools(config.upstreams);
  const trial = createAssertionTrial({
    config,
    pools,
    signing: () => ({ kid: 'k1', key: privateKey }),
    clock: Date.now,
  });
  const trials = await trial(member);
  const requests = backend.requests.map(({ method, target, values }) => ({
    method,
    target,
    assertion: values('x-coursegate-assertion')[0],
    member: values('x-member-id')[0],
  }));
  return { trials, requests };
}

const route = (match: string, more: object = {}) => ({ match, upstream: 'school', anonymous: 'refuse', ...more });

describe('a trial of assertions', () => {
  it('sends none, a valid one, and one with each fault', async () => {
    const { trials, requests } = await tried({ routes: [route('GET /api/me', { scopes: ['account:read'] })] }, '17');
    expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual(Array(6).fill('GET /base/api/me'));
    const [none, valid = '', forged = '', expired = '', origin = '', upstream = ''] = requests.map(
      (one) => one.assertion,
    );
    expect(none).toBeUndefined();
    const expected = { issuer: ORIGIN, audience: 'school', subject: '17' };
    const { payload, protectedHeader } = await jwtVerify(valid, publicKey, expected);
    expect(payload).toMatchObject({ scope: 'account:read', client_id: 'coursegate-doctor' });
    expect(payload).not.toHaveProperty('htu');
    expect(protectedHeader).toMatchObject({ alg: 'ES256', kid: 'k1' });
    await expect(jwtVerify(forged, publicKey, expected)).rejects.toThrow('signature verification failed');
    expect(decodeJwt(forged)).toEqual({ ...payload, iat: expect.any(Number), exp: expect.any(Number) });
    await expect(jwtVerify(expired, publicKey, expected)).rejects.toThrow('"exp" claim timestamp check failed');
    await expect(jwtVerify(origin, publicKey, expected)).rejects.toThrow('unexpected "iss" claim value');
    await expect(jwtVerify(upstream, publicKey, expected)).rejects.toThrow('unexpected "aud" claim value');
    expect(requests.map(({ member }) => member)).toEqual([undefined, '17', '17', '17', '17', '17']);
    expect(trials).toEqual([
      {
        upstream: 'school',
        path: '/api/me',
        answers: Object.fromEntries(
          ['none', 'valid', 'forged', 'expired', 'other-origin', 'other-upstream'].map((name) => [
            name,
            { status: 200 },
          ]),
        ),
      },
    ]);
  });

  it.each<[string, number, unknown, string | undefined]>([
    [
      'an OAuth error',
      401,
      { error: 'invalid_token', error_description: 'too old', title: 7 },
      'invalid_token too old',
    ],
    ['a nested one', 403, { error: { code: 'no', message: 'no', detail: 'why' } }, 'no why'],
    [
      'a token',
      400,
      { message: `${'a'.repeat(24)}.b-c.d_e and ${'f'.repeat(23)} of ${'g'.repeat(30)}` },
      `… and ${'f'.repeat(23)} of …`,
    ],
    ['too much', 500, { message: 'no '.repeat(100) }, 'no '.repeat(100).slice(0, 200)],
    ['a page', 500, undefined, undefined],
    ['no refusal', 200, { message: 'fine' }, undefined],
  ])('quotes of an answer with %s only what is safe', async (_what, status, body, said) => {
    backend.script((_request, response) => {
      response.writeHead(status).end(body === undefined ? '<h1>x-coursegate-assertion</h1>' : JSON.stringify(body));
    });
    const { trials } = await tried({ routes: [route('GET /api/me')] });
    backend.script(answerOk);
    expect(trials[0]?.answers.valid).toEqual(said === undefined ? { status } : { status, said });
  });

  it.each([
    ['a route to one path', { routes: [route('POST /v1/x'), route('GET /v1/me'), route('GET /v1/**')] }, '/v1/me'],
    ['a rewritten one', { routes: [route('GET /my/orders', { rewrite: '/m/{member.id}/orders' })] }, '/m/1%2F7/orders'],
    [
      'one with the member in its query',
      { routes: [route('GET /o', { query: { user: '{member.id}' } })] },
      '/o?user=1%2F7',
    ],
    ['a route to many paths', { routes: [route('GET /v1/*/x'), route('* /v1/courses/**')] }, '/v1/courses'],
    [
      'a tool for members',
      {
        mcp: {
          tools: [
            { name: 'open', title: 'O', description: 'o', get: { upstream: 'school', path: '/open' } },
            {
              name: 'mine',
              title: 'M',
              description: 'm',
              scopes: ['account:read'],
              input: { properties: { page: { type: 'integer' } } },
              get: { upstream: 'school', path: '/mine', query: { all: '1', page: '{page}' } },
            },
          ],
        },
      },
      '/mine?all=1',
    ],
    ['the root without any', {}, '/'],
  ])('asks for the path of %s', async (_what, settings, path) => {
    const { trials } = await tried(settings, '1/7');
    expect(trials.map((one) => one.path)).toEqual([path]);
  });

  it('leaves out upstreams that receive no assertion', async () => {
    const upstreams = { school: { url: backend.url, identity: ['headers'] } };
    expect((await tried({ upstreams })).trials).toEqual([]);
    expect(backend.requests).toEqual([]);
  });

  it('names the request in the assertion if a gateway forwards the route, like the gate', async () => {
    const { requests } = await tried({
      upstreams: { school: { url: backend.url } },
      listen: { decisions: { address: '127.0.0.1:9092', secret: { env: 'GATEWAY_SECRET' } } },
      routes: [route('GET /api/me', { forwardedBy: 'gateway' })],
    });
    expect(decodeJwt(requests[1]?.assertion ?? '')).toMatchObject({ htm: 'GET', htu: `${ORIGIN}/api/me` });
  });
});
