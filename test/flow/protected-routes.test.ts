import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { SCOPES } from '../support/catalogue.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** The areas of the contract's scopes, and which of them can be read and written through the school's REST API. */
const AREAS: readonly [area: string, read: boolean, write: boolean][] = [
  ['courses', true, true],
  ['students', true, true],
  ['members', true, true],
  ['analytics', true, false],
  ['curriculum', true, true],
  ['orders', true, false],
  ['school', true, true],
  ['appearance', true, true],
  ['events', true, true],
  ['membership_plans', true, true],
  ['coupons', true, true],
  ['posts', true, true],
  ['subscriptions', true, true],
  ['digital_products', true, true],
  ['comments', true, false],
  ['lecturers', true, true],
  ['storage', false, true],
  ['forms', true, false],
  ['pages', true, true],
];
const READABLE = AREAS.filter(([, read]) => read).map(([area]) => area);
const WRITABLE = AREAS.filter(([, , write]) => write).map(([area]) => area);
const ALL = SCOPES.join(' ');

describe.each([{ profile: 'A' }, { profile: 'B' }])('the scope catalogue in Profile $profile', ({ profile }) => {
  let world: World;
  /** A token with all scopes, and for each scope a token without it. */
  let everything: string;
  const without = new Map<string, string>();
  beforeAll(async () => {
    world = await startWorld({ profile });
    const app = await registerApp(world.origin);
    everything = (await connect(app, { parameters: { scope: ALL } })).access_token;
    const needed = SCOPES.filter((scope) => scope.includes(':') && !scope.startsWith('account:'));
    for (const scope of needed) {
      const ticked = SCOPES.filter((other) => other !== scope);
      without.set(scope, (await connect(app, { parameters: { scope: ALL }, ticked })).access_token);
    }
  });
  afterAll(() => world.close());

  const ask = (method: string, path: string, token: string) =>
    fetch(world.origin + path, {
      method,
      headers: { ...bearer(token), 'content-type': 'application/json' },
      ...(['GET', 'HEAD', 'DELETE'].includes(method) ? {} : { body: '{"title":"x"}' }),
    });

  const expectRefused = async (answer: Response, scope: string) => {
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: 'insufficient_scope' });
    const named = /scope="([^"]*)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1]?.split(' ') ?? [];
    expect([...named].sort()).toEqual([...SCOPES].sort());
    expect(named.at(-1)).toBe(scope);
  };

  it.each(READABLE)('reading %s needs its read scope, and no other', async (area) => {
    const answer = await ask('GET', `/api/v1/${area}`, everything);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toHaveProperty('data');
    const missing = without.get(`${area}:read`) ?? '';
    await expectRefused(await ask('GET', `/api/v1/${area}`, missing), `${area}:read`);
    await expectRefused(await ask('GET', `/api/v1/${area}/x-1`, missing), `${area}:read`);
    expect((await ask('HEAD', `/api/v1/${area}`, missing)).status).toBe(403);
  });

  it.each(WRITABLE)('writing %s needs its write scope, and no other', async (area) => {
    const path = area === 'storage' ? '/api/v1/storage/files/x' : `/api/v1/${area}`;
    expect((await ask('POST', path, everything)).status).toBe(201);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      await expectRefused(await ask(method, path, without.get(`${area}:write`) ?? ''), `${area}:write`);
    }
  });

  it.each(AREAS.filter(([, read, write]) => !read || !write))(
    '%s allows reading: %o, writing: %o',
    async (area, read) => {
      const answer = await ask(read ? 'POST' : 'GET', `/api/v1/${area}`, everything);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe(read ? 'GET, HEAD' : 'POST, PUT, PATCH, DELETE');
      expect(await answer.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
    },
  );

  it('a scope that the member did not tick is missing from the token', async () => {
    const app = await registerApp(world.origin);
    const { access_token: token, scope } = await connect(app, {
      parameters: { scope: 'openid courses:read orders:read' },
      ticked: ['courses:read'],
    });
    expect(scope).toBe('openid courses:read');
    expect((await ask('GET', '/api/v1/courses', token)).status).toBe(200);
    expect((await ask('GET', '/api/v1/orders', token)).status).toBe(403);
    const who = await fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(token) });
    expect(await who.json()).toEqual({ sub: 'm-1001' });
  });
});

describe('another spelling of a protected path', () => {
  it('never reaches the backend, with a token or without', async () => {
    const upstream = await startRecordingUpstream();
    const world = await startWorld({ profile: 'A' });
    const tricked = await startWorld({ profile: 'A', overrides: { upstreams: { school: { url: upstream.url } } } });
    try {
      const { access_token: token } = await connect(await registerApp(world.origin));
      const tricks = [
        '/API/v1/orders',
        '/api/v1/Orders',
        '/api/v1//orders',
        '//api/v1/orders',
        '/api//v1/orders',
        '/api/v1/courses/../orders',
        '/api/v1/courses/%2e%2e/orders',
        '/api/v1/courses/.%2E/orders',
        '/api/v1/courses/..%2forders',
        '/api/v1/courses/..;/orders',
        '/api/v1/./orders',
        '/api/v1/orders;x=1',
        '/api/v1/orders%2f',
        '/api/v1/orders%00',
        '/api/v1/orders%0a',
        '/api/v1/orders.',
        '/api/v1/orders%20',
        '/api/v1\\orders',
        '/api/v1/%256frders',
        '/api/v1/%EF%BD%8Frders',
        'http://evil.test/api/v1/orders',
      ];
      for (const path of tricks) {
        for (const [at, headers] of [
          [tricked.origin, {}],
          [world.origin, bearer(token)],
        ] as const) {
          const { status, text } = await rawRequest(at, { path, headers });
          expect({ path, refused: [400, 404].includes(status) }).toEqual({ path, refused: true });
          expect(text).not.toContain('"data"');
        }
      }
      expect(upstream.requests.map(({ target }) => target)).toEqual([]);
    } finally {
      await Promise.all([world.close(), tricked.close(), upstream.close()]);
    }
  });
});
