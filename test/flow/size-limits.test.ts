import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

const KIB = 1024;

describe('limits on the size of a request', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    const route = { upstream: 'school', scopes: ['courses:write'] };
    world = await startWorld({
      profile: 'A',
      overrides: {
        limits: { requestBody: '16KiB', headers: '8KiB' },
        constants: { limits: { url: 2048 } },
        routes: [
          { match: 'POST /api/v1/courses', ...route },
          { match: 'PUT /api/v1/courses/*', ...route, bodyLimit: '32KiB' },
          { match: 'PATCH /api/v1/courses/*', ...route, bodyLimit: 'unlimited' },
          { match: 'GET /api/v1/courses', upstream: 'school' },
        ],
      },
    });
    token = (await connect(await registerApp(world.origin), { parameters: { scope: 'openid courses:write' } }))
      .access_token;
  });
  afterAll(() => world.close());

  /** Whether the gate refused it; the school accepts up to 64 KiB. */
  const refuses = async (method: string, path: string, size: number, named = '') => {
    const headers = { ...bearer(token), 'content-type': 'application/json' };
    const body = JSON.stringify({ title: 'x'.repeat(size - 12) });
    const answer = await rawRequest(world.origin, { method, path, headers, body });
    return answer.status === 413 && answer.text.includes('"payload_too_large"') && answer.text.includes(named);
  };

  it('apply to every route that does not set its own', async () => {
    const first = '/api/v1/courses/c-1';
    expect(await refuses('POST', '/api/v1/courses', 16 * KIB + 1, 'too large: at most 16 KiB')).toBe(true);
    expect(await refuses('PUT', first, 16 * KIB + 1)).toBe(false);
    expect(await refuses('PUT', first, 32 * KIB + 1, 'too large: at most 32 KiB')).toBe(true);
    expect(await refuses('PATCH', first, 48 * KIB)).toBe(false);
  });

  it('close the connection of a request that exceeds them', async () => {
    const post = (size: number) =>
      fetch(`${world.origin}/api/v1/courses`, {
        method: 'POST',
        headers: { ...bearer(token), 'content-type': 'application/json' },
        body: JSON.stringify({ title: 'x'.repeat(size) }),
      });
    const [small, large] = [await post(KIB), await post(16 * KIB)];
    expect([small.headers.get('connection'), large.headers.get('connection')]).toEqual(['keep-alive', 'close']);
    expect(large.status).toBe(413);
  });

  it('return 414 for a URL that is too long, and 431 for header fields', async () => {
    const asked = (path: string, headers = {}) => rawRequest(world.origin, { path, headers });
    expect((await asked(`/courses?${'q'.repeat(2 * KIB)}`)).status).toBe(414);
    expect((await asked(`/courses?${'q'.repeat(2 * KIB - 9)}`)).status).toBe(200);
    const api = await asked(`/api/v1/courses?${'q'.repeat(2 * KIB)}`);
    expect([api.status, api.headers['cache-control']]).toEqual([414, 'no-store']);
    expect(JSON.parse(api.text)).toMatchObject({ status: 414, code: 'uri_too_long' });
    expect((await asked('/courses', { 'x-large': 'x'.repeat(8 * KIB) })).status).toBe(431);
    expect((await asked('/courses', { 'x-large': 'x'.repeat(6 * KIB) })).status).toBe(200);
  });

  it('apply to responses too', async () => {
    await world.restart({
      limits: { responseBody: '1B' },
      routes: [{ match: 'GET /api/v1/courses', upstream: 'school' }],
    });
    const answer = await fetch(`${world.origin}/api/v1/courses`, { headers: bearer(token) });
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: 'upstream_invalid' });
  });
});
