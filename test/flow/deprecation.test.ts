import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from '../config/fixture.ts';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

describe('a deprecated route', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    const deprecated = { since: '2026-01-01', sunset: '2026-12-31', link: 'https://school.example/api-news' };
    world = await startWorld({
      profile: 'A',
      overrides: {
        routes: [
          { match: 'GET /api/v1/courses', upstream: 'school', scopes: ['courses:read'], deprecated },
          { match: 'GET /api/v1/courses/**', upstream: 'school', scopes: ['courses:read'] },
        ],
      },
    });
    token = (await connect(await registerApp(world.origin))).access_token;
  });
  afterAll(() => world.close());

  const told = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(world.origin + path, { headers });
    const fields = ['deprecation', 'sunset', 'link'].map((name) => answer.headers.get(name));
    return [answer.status, ...fields];
  };
  const GOING = [
    '@1767225600',
    'Thu, 31 Dec 2026 00:00:00 GMT',
    '<https://school.example/api-news>; rel="deprecation"',
  ];

  it('says so in every answer of its own, refusals too, and no other route does', async () => {
    expect(await told('/api/v1/courses', bearer(token))).toEqual([200, ...GOING]);
    expect(await told('/api/v1/courses')).toEqual([401, ...GOING]);
    const [, deprecation, sunset] = await told('/api/v1/courses/c-1', bearer(token));
    expect([deprecation, sunset]).toEqual([null, null]);
  });

  it('says so to pages of other origins', async () => {
    const answer = await fetch(`${world.origin}/api/v1/courses`, {
      headers: { ...bearer(token), origin: 'https://app.example' },
    });
    const exposed = String(answer.headers.get('access-control-expose-headers')).toLowerCase().split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['deprecation', 'sunset', 'link']));
  });

  it('says so in the API description', async () => {
    const { paths } = (await (await fetch(`${world.origin}/openapi.json`)).json()) as {
      paths: Record<string, { get?: { deprecated?: boolean } }>;
    };
    expect(paths['/api/v1/courses']?.get?.deprecated).toBe(true);
    const others = Object.entries(paths).filter(([path]) => path !== '/api/v1/courses');
    expect(others.some(([, { get }]) => get?.deprecated === true)).toBe(false);
  });

  it.each([
    ['{ since: soon }', 'routes[0].deprecated.since: must be a day such as 2026-12-31'],
    ['{ since: 2026-02-31 }', 'routes[0].deprecated.since: must be a day such as 2026-12-31'],
    ['{ since: 2026-02-01, sunset: 2026-01-01 }', 'routes[0].deprecated.sunset: must not be before since'],
    ['{ since: 2026-02-01, link: news.html }', 'routes[0].deprecated.link: must be an http or https URL'],
  ])('is refused as %s', async (deprecated, message) => {
    const text = `${SMALL}routes: [{ match: GET /api/x, upstream: school, deprecated: ${deprecated} }]\n`;
    expect(await mistakes(text)).toEqual([expect.stringContaining(message)]);
  });

  it('may be configured with a date alone', async () => {
    const text = `${SMALL}routes: [{ match: GET /api/x, upstream: school, deprecated: { since: 2026-01-01 } }]\n`;
    expect((await load(text)).config.routes[0]?.deprecated).toEqual({ since: '2026-01-01' });
  });
});
