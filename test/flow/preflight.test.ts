import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/**
 * What a browser asks before a page of another origin may send more than a form could (Fetch standard, CORS preflight).
 */
let world: World;
let upstream: RecordingUpstream;
let token: string;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: {
        legacy: { url: upstream.url, headers: { request: { allow: ['X-Course-Version'], drop: ['If-Range'] } } },
      },
      routes: [
        { match: 'GET|POST /api/v1/x', upstream: 'legacy' },
        { match: 'GET /api/v1/y', upstream: 'school' },
      ],
    },
  });
  token = (await connect(await registerApp(world.origin))).access_token;
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

const allowed = async (path: string) => {
  const { status, headers } = await rawRequest(world.origin, {
    path,
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
  });
  expect(status).toBe(204);
  return String(headers['access-control-allow-headers']).toLowerCase().split(', ');
};

describe('a page of another origin', () => {
  it.each([
    ...['accept', 'accept-language', 'content-type', 'range', 'cache-control', 'idempotency-key', 'prefer'],
    ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'last-event-id'],
    ...['mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'x-course-version'],
  ])('may send %s, which is forwarded', async (name) => {
    expect(await allowed('/api/v1/x')).toContain(name);
    await rawRequest(world.origin, { path: '/api/v1/x', headers: { ...bearer(token), [name]: 'text/7' } });
    expect(upstream.last().values(name)).toEqual(['text/7']);
  });

  it.each(['authorization', 'dpop', 'x-request-id', 'traceparent', 'tracestate', 'baggage'])(
    'may send %s, which is for the gate and is not forwarded',
    async (name) => {
      expect(await allowed('/api/v1/x')).toContain(name);
      expect(await allowed('/api/oauth/userinfo')).toContain(name);
      const headers = { ...bearer(token), ...(name === 'authorization' ? {} : { [name]: 'mine' }) };
      await rawRequest(world.origin, { path: '/api/v1/x', headers });
      expect(upstream.last().rawHeaders.join('\n')).not.toMatch(new RegExp(`mine|${token}`));
    },
  );

  it.each(['x-other', 'cookie', 'x-member-id', 'x-forwarded-for', 'host', 'origin', 'referer', 'accept-encoding', '*'])(
    'may not send %s',
    async (name) => expect(await allowed('/api/v1/x')).not.toContain(name),
  );

  it('may send a header that the operator allows only on its route', async () => {
    expect(await allowed('/api/v1/y')).not.toContain('x-course-version');
  });

  it('is given every header name once', async () => {
    const names = await allowed('/api/v1/x');
    expect(names).toEqual([...new Set(names)]);
  });
});

it('a page of another origin may read the response headers it needs, such as ETag, Link and Location', async () => {
  const { headers } = await rawRequest(world.origin, { path: '/api/v1/x', headers: bearer(token) });
  const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(', ');
  expect(exposed).toEqual(
    expect.arrayContaining([
      ...['www-authenticate', 'x-request-id', 'dpop-nonce', 'retry-after', 'ratelimit', 'ratelimit-policy'],
      ...['etag', 'link', 'location', 'mcp-session-id'],
    ]),
  );
});

it('a page of another origin may read that the backend will remove a route (RFC 9745, RFC 8594)', async () => {
  const announced = {
    deprecation: '@1767225600',
    sunset: 'Thu, 31 Dec 2026 00:00:00 GMT',
    link: '<https://school.example/api-news>; rel="deprecation"',
  };
  upstream.script((_request, response) => void response.writeHead(200, announced).end('{}'));
  const { headers } = await rawRequest(world.origin, {
    path: '/api/v1/x',
    headers: { ...bearer(token), origin: 'https://app.example' },
  });
  expect(headers).toMatchObject(announced);
  const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(', ');
  expect(exposed).toEqual(expect.arrayContaining(Object.keys(announced)));
});
