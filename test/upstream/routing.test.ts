import { describe, expect, it } from 'vitest';
import { createRouting, type Routed } from '../../src/upstream/routing.ts';

function routes(...matches: string[]): Routed<string>[] {
  return matches.map((match) => {
    const [methods = '', pattern = ''] = match.split(' ');
    return { methods: methods === '*' ? undefined : methods.split('|'), pattern, value: match };
  });
}

const school = createRouting(
  routes(
    'GET /api/v1/courses/mine',
    'GET /api/v1/courses/**',
    'POST|PUT /api/v1/courses/**',
    'GET /api/v1/members/*/orders',
    'DELETE /api/v1/members/*/orders',
    '* /mcp',
    'GET /kurse/größe',
    'GET /files/a@b',
  ),
);

describe('createRouting', () => {
  it.each([
    ['GET', '/api/v1/courses/mine', 'GET /api/v1/courses/mine'],
    ['HEAD', '/api/v1/courses/mine', 'GET /api/v1/courses/mine'],
    ['GET', '/api/v1/courses', 'GET /api/v1/courses/**'],
    ['GET', '/api/v1/courses/', 'GET /api/v1/courses/**'],
    ['GET', '/api/v1/courses/1/lectures/2', 'GET /api/v1/courses/**'],
    ['GET', '/api/v1/courses/AbC', 'GET /api/v1/courses/**'],
    ['PUT', '/api/v1/courses/1', 'POST|PUT /api/v1/courses/**'],
    ['POST', '/api/v1/courses/mine', 'POST|PUT /api/v1/courses/**'],
    ['GET', '/api/v1/members/7/orders', 'GET /api/v1/members/*/orders'],
    ['PURGE', '/mcp', '* /mcp'],
    ['GET', '/kurse/gr%C3%B6%C3%9Fe', 'GET /kurse/größe'],
  ])('matches %s %s with %s', (method, path, expected) => {
    expect(school(method, path)).toMatchObject({ kind: 'route', route: { value: expected } });
  });

  it.each([
    ['POST', '/api/v1/members/7/orders', ['GET', 'HEAD', 'DELETE']],
    ['DELETE', '/api/v1/courses/mine', ['GET', 'HEAD', 'POST', 'PUT']],
  ])('refuses %s %s with every method that the path allows', (method, path, allow) => {
    expect(school(method, path)).toEqual({ kind: 'method_not_allowed', allow });
  });

  it('adds HEAD to GET, unless the route says that its GET has side effects', () => {
    const visit = { methods: ['GET'], pattern: '/visit', head: false as const, value: 'visit' };
    const post = { methods: ['POST'], pattern: '/visit', value: 'post' };
    const routing = createRouting([visit, post]);
    expect(routing('GET', '/visit')).toMatchObject({ kind: 'route', route: { value: 'visit' } });
    expect(routing('HEAD', '/visit')).toEqual({ kind: 'method_not_allowed', allow: ['GET', 'POST'] });
  });

  it.each([
    '/',
    '/api',
    '/api/v1',
    '/api/v1/members/7',
    '/api/v1/members//orders',
    '/api/v1/coursesx',
    '/mcp/x',
    '/files/a',
  ])('finds no route for %s', (path) => {
    expect(school('GET', path)).toEqual({ kind: 'none' });
  });

  it.each([
    ['another case', '/API/v1/courses/1'],
    ['another case, another method', '/MCP'],
    ['a final slash', '/mcp/'],
    ['an escaped reserved character', '/files/a%40b'],
    ['a compatibility form', '/%EF%BD%8Dcp'],
    ['a character that folds into ASCII', '/file%C5%BF/a@b'],
  ])('claims a protected path in %s, so that it does not reach the site', (_trick, path) => {
    expect(school('GET', path)).toEqual({ kind: 'claimed' });
  });

  it('accepts a final slash only on routes that have a handler for it', () => {
    const routing = createRouting([
      { methods: ['POST'], pattern: '/door', value: 'door', slashed: 'slashed' },
      { methods: ['POST'], pattern: '/other', value: 'other' },
      { methods: undefined, pattern: '/**', value: 'site' },
    ]);
    expect(routing('POST', '/door')).toMatchObject({ route: { value: 'door' } });
    expect(routing('POST', '/door/')).toMatchObject({ route: { value: 'slashed' } });
    for (const path of ['/Door/', '/DOOR', '/other/', '/d%6For/'])
      expect(routing('POST', path)).toEqual({ kind: 'claimed' });
    const rule = createRouting([
      ...routes('* /door'),
      { methods: ['POST'], pattern: '/door', value: 'a', slashed: 'b' },
    ]);
    expect(rule('POST', '/door/')).toEqual({ kind: 'claimed' });
  });

  it('claims a path with another reading under a stricter rule', () => {
    const routing = createRouting(routes('GET /api/admin/**', 'GET /api/**'));
    expect(routing('GET', '/api/ADMIN/x')).toEqual({ kind: 'claimed' });
    expect(routing('GET', '/api/admin/x')).toMatchObject({ kind: 'route', route: { value: 'GET /api/admin/**' } });
    expect(routing('GET', '/api/Other')).toMatchObject({ kind: 'route', route: { value: 'GET /api/**' } });
  });

  it('claims a path that is a rule of its own without the slashes at its end, however many', () => {
    const routing = createRouting(routes('GET /api/admin', 'GET /**'));
    for (const path of ['/api/admin/', '/api/admin//', '/API/Admin//', '/api/admin///'])
      expect(routing('GET', path), path).toEqual({ kind: 'claimed' });
    expect(routing('GET', '/api/other//')).toMatchObject({ route: { value: 'GET /**' } });
  });

  it('claims the lower case of a pattern written in upper case', () => {
    const routing = createRouting(routes('GET /API/Admin', 'GET /**'));
    expect(routing('GET', '/api/admin')).toEqual({ kind: 'claimed' });
    expect(routing('GET', '/API/Admin')).toMatchObject({ route: { value: 'GET /API/Admin' } });
  });

  it('uses the first declared match, even if a later one is more specific', () => {
    const routing = createRouting(routes('GET /a/**', 'GET /a/b', '* /a/*'));
    expect(routing('GET', '/a/b')).toMatchObject({ route: { value: 'GET /a/**' } });
    expect(routing('POST', '/a/b')).toMatchObject({ route: { value: '* /a/*' } });
  });

  it('matches the root, and everything with /**', () => {
    expect(createRouting(routes('GET /'))('GET', '/')).toMatchObject({ kind: 'route' });
    expect(createRouting(routes('GET /'))('GET', '/a')).toEqual({ kind: 'none' });
    expect(createRouting(routes('GET /**'))('GET', '/a/b')).toMatchObject({ kind: 'route' });
    expect(createRouting(routes('GET /**'))('GET', '/')).toMatchObject({ kind: 'route' });
  });

  it.each(['api', '/a/**/b', '/a*', '/a/../b', '/a//b', '/a;b'])('refuses the pattern %s', (pattern) => {
    expect(() => createRouting(routes(`GET ${pattern}`))).toThrow(TypeError);
  });
});
