import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { openEvents } from '../../src/events/part.ts';
import { type AdminOptions, adminApp, probesApp } from '../../src/operations/admin.ts';
import { hostCheck } from '../../src/operations/admin-callers.ts';
import { openObserve } from '../../src/operations/observe/part.ts';

const HEALTHY = { ok: true, text: 'ok', checks: [{ name: 'store', ok: true, detail: 'sqlite' }] };
const FAILING = { ok: false, text: 'gone', checks: [{ name: 'store', ok: false, detail: 'gone' }] };

/** What the parts answer without `events` and `enforcement` in the configuration. */
const LOADED = { config: { login: { kind: 'session', cookies: [] }, enforcement: { mode: 'enforce', cookies: [] } } };
const NOT_CONFIGURED = {
  ...openEvents({} as never, LOADED as never, {} as never).admin,
  ...openObserve({} as never, LOADED as never, {} as never).admin,
};
const CONFIGURED: AdminOptions['answers'] = {
  '/observed': () => ({ contentType: 'application/yaml; charset=utf-8', text: 'routes: []\n' }),
  '/observed.json': () => ({ json: { dropped: 1 } }),
  '/events': async () => ({ json: { pending: 0 } }),
};

function adminOf(options: Partial<AdminOptions> = {}) {
  return adminApp({
    health: { live: () => HEALTHY, ready: async () => HEALTHY },
    isOurs: hostCheck(['gate.internal.example']),
    metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }),
    answers: NOT_CONFIGURED,
    commands: (_request, _response, next) => next(),
    console: (_request, response) => response.end('console'),
    ...options,
  });
}

const PATHS = ['/livez', '/readyz', '/metrics', '/observed', '/observed.json', '/events'];

describe('the admin app', () => {
  it.each([
    ['/livez', 200, 'text/plain; charset=utf-8', 'ok\n'],
    ['/livez?verbose', 200, 'text/plain; charset=utf-8', '[+]store ok: sqlite\nlivez check passed\n'],
    ['/readyz', 200, 'text/plain; charset=utf-8', 'ok\n'],
    ['/metrics', 200, 'text/plain; version=0.0.4; charset=utf-8', 'up 1\n'],
    ['/observed', 200, 'application/yaml; charset=utf-8', 'routes: []\n'],
    ['/observed.json', 200, 'application/json', '{\n  "dropped": 1\n}\n'],
    ['/events', 200, 'application/json', '{\n  "pending": 0\n}\n'],
  ])('serves %s', async (path, status, type, text) => {
    const app = adminOf({ answers: CONFIGURED });
    const answer = await request(app).get(path).responseType('blob');
    expect([answer.status, answer.headers['content-type'], String(answer.body)]).toEqual([status, type, text]);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-length']).toBe(String(text.length));
  });

  it.each([
    ['/observed', 'not in observe mode: nothing is counted\n'],
    ['/observed.json', 'not in observe mode: nothing is counted\n'],
    ['/events', '`events` is not configured: nothing is sent to the backend\n'],
    ['/', 'not found\n'],
    ['/Livez', 'not found\n'],
    ['/livez/', 'not found\n'],
    ['/%6civez', 'not found\n'],
    ['/livez/x', 'not found\n'],
  ])('returns 404 for %s', async (path, text) => {
    const { status, text: said } = await request(adminOf()).get(path);
    expect([status, said]).toEqual([404, text]);
  });

  it('lists the checks as JSON when the client accepts it, and returns 503 when one fails', async () => {
    const app = adminOf({ health: { live: () => HEALTHY, ready: async () => FAILING } });
    expect((await request(app).get('/readyz').expect(503)).text).toBe('gone\n');
    const verbose = await request(app).get('/readyz?verbose').set('accept', 'application/json').expect(503);
    expect(verbose.body).toEqual({ ok: false, checks: FAILING.checks });
    const lines = await request(app).get('/readyz?verbose=1').expect(503);
    expect(lines.text).toBe('[-]store failed: gone\nreadyz check failed\n');
  });

  it.each(PATHS)('accepts only GET and HEAD at %s', async (path) => {
    const app = adminOf({ answers: CONFIGURED });
    for (const method of ['post', 'put', 'delete', 'patch', 'options'] as const) {
      const { status, headers, text } = await request(app)[method](path);
      expect([method, status, headers.allow, text]).toEqual([method, 405, 'GET, HEAD', 'method not allowed\n']);
    }
    const [got, head] = [await request(app).get(path), await request(app).head(path)];
    expect([head.status, head.text]).toEqual([got.status, undefined]);
    expect(head.headers['content-length']).toBe(got.headers['content-length']);
  });

  it('sends no X-Powered-By and no ETag', async () => {
    const { headers } = await request(adminOf()).get('/livez');
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
  });

  it('returns 503 in plain text when the store fails, without the error’s details', async () => {
    const failing = async () => {
      throw new Error('redis://secret@store');
    };
    const { status, text } = await request(adminOf({ answers: { '/events': failing } })).get('/events');
    expect([status, text]).toEqual([503, 'the store is unavailable\n']);
  });

  it('serves pages under its own host names only, and commands under any name, except to web pages', async () => {
    const app = adminOf({ commands: (asked, response, next) => (asked.path === '/keys' ? response.end('k') : next()) });
    for (const path of [...PATHS, '/nowhere']) {
      expect((await request(app).get(path).set('host', 'evil.example')).status).toBe(421);
    }
    expect((await request(app).get('/livez').set('host', 'gate.internal.example:9090')).status).toBe(200);
    expect((await request(app).get('/keys').set('host', 'evil.example')).status).toBe(200);
    const fromPage = await request(app).get('/keys').set('origin', 'https://evil.example');
    expect([fromPage.status, fromPage.text]).toEqual([403, 'requests from web pages are refused\n']);
  });
});

describe('the probes app', () => {
  const app = probesApp(adminOf());

  it.each(['/livez', '/readyz', '/metrics'])('serves %s, and ignores its query', async (path) => {
    const plain = await request(app).get(path).expect(200);
    expect((await request(app).get(`${path}?verbose`).expect(200)).text).toBe(plain.text);
    expect((await request(app).head(path)).status).toBe(200);
    expect((await request(app).get(path).set('host', 'evil.example')).status).toBe(421);
    for (const method of ['post', 'options'] as const) expect((await request(app)[method](path)).status).toBe(404);
  });

  it.each(['/observed', '/events', '/keys', '/', '/Readyz', '/readyz/', '/%72eadyz'])(
    'returns 404 for %s',
    async (path) => {
      const { status, text, headers } = await request(app).get(path);
      expect([status, text]).toEqual([404, 'not found\n']);
      expect(headers).not.toHaveProperty('x-powered-by');
    },
  );
});
