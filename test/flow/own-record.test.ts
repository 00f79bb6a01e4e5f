import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** SAM is m-1001. Whatever he does, an upstream that trusts its paths and queries must not take him for m-1002. */
let world: World;
let upstream: RecordingUpstream;
let token: string;
beforeAll(async () => {
  upstream = await startRecordingUpstream();
  world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { legacy: { url: upstream.url } },
      routes: [
        { match: 'GET /api/v1/members/{member.id}/orders', upstream: 'legacy' },
        { match: 'GET /api/v1/my/rewritten/**', upstream: 'legacy', rewrite: '/members/{member.id}/orders/**' },
        { match: 'GET /api/v1/m/{member.id}/*', upstream: 'legacy', rewrite: '/x/*/{member.id}' },
        { match: 'GET /api/v1/my/orders', upstream: 'legacy', query: { user_id: '{member.id}' } },
      ],
    },
  });
  token = (await connect(await registerApp(world.origin))).access_token;
});
beforeEach(() => upstream.script(answerOk));
afterAll(async () => {
  await world.close();
  await upstream.close();
});

const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const asked = upstream.requests.length;
  const answer = await rawRequest(world.origin, { path, method, headers: { ...bearer(token), ...headers } });
  return { ...answer, seen: upstream.requests.slice(asked) };
};

describe('a path with {member.id}', () => {
  it('is the member’s own', async () => {
    const { status, seen } = await ask('/api/v1/members/m-1001/orders?page=2');
    expect([status, seen.map(({ target }) => target)]).toEqual([200, ['/api/v1/members/m-1001/orders?page=2']]);
    expect((await ask('/api/v1/members/%6d-1001/orders')).seen.map(({ target }) => target)).toEqual([
      '/api/v1/members/m-1001/orders',
    ]);
  });

  it('is nobody else’s, whether there is one or not, and the upstream is not asked', async () => {
    const [there, nobody] = [await ask('/api/v1/members/m-1002/orders'), await ask('/api/v1/members/nobody/orders')];
    expect([there.status, nobody.status]).toEqual([403, 403]);
    const body = JSON.parse(there.text);
    expect(body).toMatchObject({ status: 403, code: 'forbidden' });
    expect(JSON.parse(nobody.text)).toEqual({ ...body, request_id: expect.any(String) });
    expect(there.text).not.toMatch(/m-100/);
    expect([there.seen, nobody.seen]).toEqual([[], []]);
    expect(there.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['/api/v1/members/M-1001/orders'],
    ['/api/v1/members/m-1002/ORDERS'],
    ['/API/v1/members/m-1002/orders'],
    ['/api/v1/members/m-1002/orders/'],
    ['/api/v1/members/m-1001/../m-1002/orders'],
    ['/api/v1/members/m-1001/%2e%2e/m-1002/orders'],
    ['/api/v1/members/m-1001%2f..%2fm-1002/orders'],
    ['/api/v1/members/m-1001%252f..%252fm-1002/orders'],
    ['/api/v1/members/%256d-1002/orders'],
    ['/api/v1/members/m%2D1002/orders'],
    ['/api/v1/members/m-1002;m-1001/orders'],
    ['/api/v1/members/m-1001;x=/m-1002/orders'],
    ['/api/v1/members/m-1001%00/orders'],
    ['/api/v1/members/m-1001%20/orders'],
    ['/api/v1/members/m-1001,m-1002/orders'],
    ['/api/v1/members/*/orders'],
    ['/api/v1/members/{member.id}/orders'],
    ['/api/v1/members//m-1002/orders'],
    ['/api/v1/members\\m-1002/orders'],
    ['/api/v1/members/ｍ-1002/orders'.replace('ｍ', '%EF%BD%8D')],
  ])('%s opens nothing', async (path) => {
    const { status, seen } = await ask(path);
    expect([400, 403, 404]).toContain(status);
    expect(seen).toEqual([]);
  });

  it.each([
    [{ 'x-member-id': 'm-1002' }],
    [{ X_Member_Id: 'm-1002' }],
    [{ 'x-original-url': '/api/v1/members/m-1002/orders' }],
    [{ 'x-rewrite-url': '/api/v1/members/m-1002/orders' }],
    [{ 'x-http-method-override': 'DELETE' }],
    [{ 'x-forwarded-uri': '/api/v1/members/m-1002/orders' }],
  ])('the fields %o change nothing', async (fields) => {
    expect((await ask('/api/v1/members/m-1002/orders', fields as Record<string, string>)).status).toBe(403);
    const { seen } = await ask('/api/v1/members/m-1001/orders', fields as Record<string, string>);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.values('x-member-id')).toEqual(['m-1001']);
    expect(seen[0]?.rawHeaders.join('\n')).not.toMatch(/m-1002|DELETE/);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'])('%s is not taken, whoever is named', async (method) => {
    for (const id of ['m-1001', 'm-1002']) {
      const { status, seen } = await ask(`/api/v1/members/${id}/orders`, {}, method);
      expect([status, seen]).toEqual([405, []]);
    }
    expect((await ask('/api/v1/members/m-1002/orders', {}, 'HEAD')).status).toBe(403);
  });

  it('is closed without a token', async () => {
    const asked = upstream.requests.length;
    expect((await rawRequest(world.origin, { path: '/api/v1/members/m-1001/orders' })).status).toBe(401);
    expect((await rawRequest(world.origin, { path: '/api/v1/my/orders?user_id=m-1002' })).status).toBe(401);
    expect(upstream.requests.length).toBe(asked);
  });
});

describe('a rewriting to {member.id}', () => {
  it('asks for the member’s own, by its name at the upstream', async () => {
    const { status, seen } = await ask('/api/v1/my/rewritten?page=2');
    expect([status, seen.map(({ target }) => target)]).toEqual([200, ['/members/m-1001/orders?page=2']]);
  });

  it.each([
    ['/api/v1/my/rewritten/m-1002', '/members/m-1001/orders/m-1002'],
    ['/api/v1/my/rewritten/{member.id}', '/members/m-1001/orders/%7Bmember.id%7D'],
    [
      '/api/v1/my/rewritten/?member.id=m-1002&user_id=m-1002',
      '/members/m-1001/orders/?member.id=m-1002&user_id=m-1002',
    ],
    ['/api/v1/m/m-1001/m-1002', '/x/m-1002/m-1001'],
    ['/api/v1/m/%6d-1001/m-1002', '/x/m-1002/m-1001'],
  ])('%s is %s', async (path, expected) => {
    expect((await ask(path)).seen.map(({ target }) => target)).toEqual([expected]);
  });

  it.each([
    '/api/v1/my/rewritten/../../m-1002/orders',
    '/api/v1/my/rewritten/%2e%2e/%2e%2e/m-1002/orders',
    '/api/v1/my/rewritten/..%2f..%2fm-1002',
    '/api/v1/my/rewritten/..;/m-1002',
    '/api/v1/my/Rewritten/m-1002',
    '/api/v1/m/m-1002/m-1001',
    '/api/v1/m/m-1002%2fm-1001/x',
  ])('%s opens nothing', async (path) => {
    const { status, seen } = await ask(path);
    expect([400, 403, 404]).toContain(status);
    expect(seen).toEqual([]);
  });

  it('tells a Location of the member’s own by its name here, and another’s as it is', async () => {
    const located = async (location: string) => {
      upstream.script((_request, response) => void response.writeHead(303, { location }).end());
      return (await ask('/api/v1/my/rewritten/7')).headers.location;
    };
    expect(await located('/members/m-1001/orders/8?a=1')).toBe('/api/v1/my/rewritten/8?a=1');
    expect(await located(`${upstream.url}/members/m%2D1001/orders/8`)).toBe(`${world.origin}/api/v1/my/rewritten/8`);
    expect(await located('/members/m-1002/orders/8')).toBe('/members/m-1002/orders/8');
  });

  it('is closed without a token', async () => {
    const asked = upstream.requests.length;
    expect((await rawRequest(world.origin, { path: '/api/v1/my/rewritten' })).status).toBe(401);
    expect(upstream.requests.length).toBe(asked);
  });
});

describe('a query parameter from {member.id}', () => {
  it('is set, and leaves the others as they were sent', async () => {
    expect((await ask('/api/v1/my/orders')).seen[0]?.target).toBe('/api/v1/my/orders?user_id=m-1001');
    expect((await ask('/api/v1/my/orders?page=2&q=a+b%20c&flag')).seen[0]?.target).toBe(
      '/api/v1/my/orders?user_id=m-1001&page=2&q=a+b%20c&flag',
    );
  });

  it.each([
    'user_id=m-1002',
    'user_id=m-1001&user_id=m-1002',
    'user_id',
    'USER_ID=m-1002',
    'User_Id=m-1002',
    '%75ser_id=m-1002',
    '%2575ser_id=m-1002',
    '%252575ser_id=m-1002',
    'user%5Fid=m-1002',
    'user_id[]=m-1002',
    'user_id%5B%5D=m-1002',
    'user_id[0]=m-1002',
    'user_id[$ne]=x',
    'user_id%00=m-1002',
    'user_id%20=m-1002',
    '+user_id=m-1002',
    'user.id=m-1002',
    'user+id=m-1002',
    'user[id=m-1002',
    'x=1;user_id=m-1002',
    'user%ff_id=m-1002',
    '%EF%BD%95ser_id=m-1002',
    'user_%C4%B1d=m-1002',
  ])('?%s is removed', async (query) => {
    const { status, seen } = await ask(`/api/v1/my/orders?page=2&${query}&per_page=3`);
    expect(status).toBe(200);
    expect(seen[0]?.target).toBe('/api/v1/my/orders?user_id=m-1001&page=2&per_page=3');
  });
});
