import express from 'express';
import request from 'supertest';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CommandsOptions, commandRouter } from '../../src/actions/router.ts';
import { GatewayError } from '../../src/errors.ts';

/** The controls that were called, with their arguments. */
let called: unknown[];
let failures: unknown[];
let identified: Buffer[];
beforeEach(() => {
  [called, failures, identified] = [[], [], []];
});

/** Controls that record the name and the arguments of each call. */
const recording = (module: string) =>
  new Proxy(
    {},
    {
      get:
        (_target, name) =>
        async (...given: unknown[]) =>
          answered(`${module}.${String(name)}`, given),
    },
  );

function answered(name: string, given: unknown[]): object {
  called.push(name, ...given);
  return { done: name };
}

function app(options: Partial<CommandsOptions> = {}) {
  const controls = Object.fromEntries(
    ['account', 'keys', 'store', 'events', 'assertions'].map((name) => [name, recording(name)]),
  );
  return express().use(
    commandRouter({
      controls: { ...controls, audit: () => {} } as unknown as CommandsOptions['controls'],
      identify: async (_request, body) => {
        identified.push(body);
        return { certificate: undefined };
      },
      receive: async (name) => answered('receive', [name]),
      hold: () => undefined,
      onError: (error) => failures.push(error),
      ...options,
    }),
    (_request, response) => void response.status(299).end(),
  );
}

describe('the command router', () => {
  it.each([
    ['get', '/members?q=sam&limit=7', 'account.listMembers'],
    ['get', '/members/m-1', 'account.describeMember'],
    ['post', '/members/m-1/revoke', 'account.revokeMember'],
    ['post', '/members/m-1/suspend', 'account.suspendMember'],
    ['post', '/members/m-1/resume', 'account.resumeMember'],
    ['get', '/clients?kind=document', 'account.listClients'],
    ['get', '/clients/c', 'account.describeClient'],
    ['post', '/clients/c/revoke', 'account.revokeClient'],
    ['post', '/clients/c/disable', 'account.disableClient'],
    ['post', '/clients/c/enable', 'account.enableClient'],
    ['post', '/clients/c/delete', 'account.deleteClient'],
    ['get', '/grants?member=m-1', 'account.listGrants'],
    ['post', '/grants/g/revoke', 'account.revokeGrant'],
    ['get', '/keys', 'keys.list'],
    ['post', '/keys/rotate', 'keys.rotate'],
    ['post', '/keys/import', 'keys.import'],
    ['post', '/keys/k/remove', 'keys.remove'],
    ['post', '/store/reseal', 'store.reseal'],
    ['post', '/events/retry', 'events.retry'],
    ['post', '/assertions/try', 'assertions.try'],
    ['post', '/webhooks/lms', 'receive'],
  ] as const)('accepts %s %s, and no other method there', async (method, path, name) => {
    const answer = await request(app())[method](path).expect(200);
    expect(answer.body).toEqual(name === 'assertions.try' ? { trials: { done: name } } : { done: name });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
    expect(called[0]).toBe(name);
    for (const other of ['get', 'post', 'put', 'delete', 'head', 'options'] as const) {
      if (other === method) continue;
      const refused = await request(app())[other](path);
      expect([other, refused.status, refused.headers.allow]).toEqual([other, 405, method.toUpperCase()]);
    }
    expect(identified).toHaveLength(name === 'receive' ? 0 : 1);
  });

  it.each([
    '/webhooks',
    '/webhooks/',
    '/webhooks/lms/x',
    '/members/',
    '/Members/x/y',
    '/members/m-1/',
    '/members//revoke',
    '/members/m-1/delete',
    '/clients/x/suspend',
    '/events/',
    '/events/list',
    '/store',
    '/keys/k/l/remove',
    '/keys/ROTATE',
  ])('returns 404 for %s', async (path) => {
    const { status, headers, body } = await request(app()).post(path);
    if (path.startsWith('/M')) return expect(status).toBe(299);
    expect([status, headers['content-type']]).toEqual([404, 'application/problem+json']);
    expect(body).toMatchObject({ status: 404, code: 'not_found', request_id: headers['x-request-id'] });
    expect(identified).toEqual([]);
  });

  it.each(['/events', '/livez', '/membersx', '/', '/x/members'])('passes %s on to the next handler', async (path) => {
    expect((await request(app()).get(path)).status).toBe(299);
  });

  it('decodes the ID once, and reads the query, the body and the reason', async () => {
    await request(app()).post('/members/a%252Fb%2F%3F/revoke').send({ by: 'operator', reason: 'refund' }).expect(200);
    expect(called).toEqual([
      'account.revokeMember',
      'a%2Fb/?',
      expect.objectContaining({ by: 'operator', reason: 'refund', requestId: expect.any(String) }),
    ]);
    called = [];
    await request(app()).post('/keys/rotate').send({ now: true }).expect(200);
    expect(called).toEqual(['keys.rotate', true, expect.objectContaining({ by: 'backend', reason: undefined })]);
    called = [];
    await request(app()).get('/members?q=a%20b+c&cursor=x').expect(200);
    expect(called).toEqual(['account.listMembers', 'a b c', { cursor: 'x', limit: 50 }]);
    expect(identified[0]?.toString()).toBe('{"by":"operator","reason":"refund"}');
  });

  it.each([
    ['/members?x=1', 'Unknown parameter "x".'],
    ['/members?q=a&q=b', 'The parameter "q" must not be repeated.'],
    ['/members?q=%00', 'too long or contains control characters'],
    [`/members?q=${'x'.repeat(2049)}`, 'too long or contains control characters'],
    ['/members?limit=201', '"limit" must be a number from 1 to 200.'],
    ['/members/m-1?q=a', 'Unknown parameter "q".'],
    ['/grants', 'Specify either'],
    ['/grants?member=a&client=b', 'Specify either'],
    ['/members?__proto__=a', 'Unknown parameter "__proto__".'],
    ['/members/%E0%A4%A', 'not percent-encoded UTF-8'],
    ['/members/%00', 'too long or contains control characters'],
    [`/members/${'x'.repeat(2049)}`, 'too long or contains control characters'],
  ])('refuses %.40s', async (path, message) => {
    const { status, body } = await request(app()).get(path);
    expect([status, body.code, body.title]).toEqual([400, 'invalid_request', expect.stringContaining(message)]);
    expect(called).toEqual([]);
  });

  it('authenticates the caller before it checks the body, and runs no unauthenticated command', async () => {
    const identify = async () => {
      throw new GatewayError('unauthorized', { message: 'who?', headers: { 'www-authenticate': 'X' } });
    };
    const { status, headers, body } = await request(app({ identify })).post('/members/m-1/revoke').send('{');
    expect([status, headers['www-authenticate'], body.title]).toEqual([401, 'X', 'who?']);
    expect(called).toEqual([]);
  });

  it('reads at most 4 KiB, and does not wait for the rest of the body', async () => {
    const { status, headers } = await request(app()).post('/members/m-1/revoke').send('x'.repeat(4097));
    expect([status, headers.connection]).toEqual([413, 'close']);
    await request(app())
      .post('/keys/import')
      .send({ key: 'x'.repeat(4000) })
      .expect(200);
    const zipped = await request(app()).post('/keys/rotate').set('content-encoding', 'gzip').send('x');
    expect([zipped.status, identified.length]).toEqual([415, 1]);
  });

  it('logs an internal failure without showing it in the response', async () => {
    const broken = new Error('disk on fire');
    const identify = async () => {
      throw broken;
    };
    const { status, body, text } = await request(app({ identify })).get('/keys');
    expect([status, body.code, failures]).toEqual([500, 'internal', [broken]]);
    expect(text).not.toContain('fire');
  });

  it('tracks a command until it has finished, whatever the result', async () => {
    const held: Promise<void>[] = [];
    const hold: CommandsOptions['hold'] = (work) => void held.push(work);
    await request(app({ hold })).get('/keys').expect(200);
    await request(app({ hold })).get('/grants').expect(400);
    expect(await Promise.all(held)).toEqual([undefined, undefined]);
  });
});
