import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ANONYMOUS } from '../../src/oauth/principal.ts';
import { createRewrite } from '../../src/upstream/rewrite.ts';
import { parseTarget } from '../../src/upstream/target.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { MEMBER, startGate } from './gate.ts';

describe('a rewrite rule', () => {
  it.each([
    ['/api/v1/courses/**', '/internal/v2/courses/**', '/api/v1/courses/12/lessons', '/internal/v2/courses/12/lessons'],
    ['/api/v1/courses/**', '/internal/v2/courses/**', '/api/v1/courses', '/internal/v2/courses'],
    ['/api/v1/courses/**', '/internal/v2/courses/**', '/api/v1/courses/', '/internal/v2/courses/'],
    ['/api/**', '/**', '/api/a/b', '/a/b'],
    ['/**', '/legacy/**', '/a%2Bb', '/legacy/a%2Bb'],
    ['/u/*/orders/*', '/orders/*/of/*', '/u/1/orders/2', '/orders/1/of/2'],
    ['/me', '/member/profile', '/me', '/member/profile'],
    ['/kurse/größe', '/größe', '/kurse/gr%C3%B6%C3%9Fe', '/gr%C3%B6%C3%9Fe'],
  ])('from %s to %s turns %s into %s, and back', (match, rewrite, path, rewritten) => {
    const { inward, outward } = createRewrite(match, rewrite)(ANONYMOUS);
    expect(inward(path)).toBe(rewritten);
    expect(outward(rewritten)).toBe(path);
  });

  it.each([
    ['/a/*', '/b'],
    ['/a', '/b/*'],
    ['/a/**', '/b'],
    ['/a/*', '/b/**'],
    ['/a', '/b/../c'],
    ['/a', '/b//c'],
    ['/a', '/b;x'],
    ['/a', '/b%2Fc'],
    ['/a/**', '/b/**/c'],
  ])('from %s to %s is refused', (match, rewrite) => {
    expect(() => createRewrite(match, rewrite)).toThrow(TypeError);
  });

  it('that leaves an empty path yields the root', () => {
    expect(createRewrite('/api/**', '/**')(ANONYMOUS).inward('/api')).toBe('/');
  });

  it('cannot map paths back that lie elsewhere', () => {
    const { outward } = createRewrite('/api/*/x', '/in/*/y')(ANONYMOUS);
    for (const path of ['/in/1', '/in/1/y/z', '/in/1/z', '/other', '/']) expect(outward(path)).toBeUndefined();
  });

  it('turns a canonical path into a canonical path with as many segments', () => {
    const { inward } = createRewrite('/a/*/**', '/x/*/y/**')(ANONYMOUS);
    const segment = fc.string({
      unit: fc.constantFrom('%2e', '.', '%', '2', 'F', '?', '#', 'a', '%3F', '%20', '*', 'é'),
    });
    fc.assert(
      fc.property(segment, fc.array(segment), (one, rest) => {
        const target = parseTarget(`/a/${one}/${rest.join('/')}`, 'http://a');
        fc.pre(target !== undefined && target.query === '');
        const rewritten = inward((target as { path: string }).path);
        expect(parseTarget(rewritten, 'http://a')).toEqual({ path: rewritten, query: '' });
        expect(rewritten.split('/').length).toBe((target as { path: string }).path.split('/').length + 1);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a rewrite rule with the member ID', () => {
  const as = (sub: string) => ({ ...MEMBER, sub });

  it.each([
    ['/my/orders', '/members/{member.id}/orders', 'm-1', '/my/orders', '/members/m-1/orders'],
    ['/my/**', '/m/{member.id}/**', 'm-1', '/my/orders/7', '/m/m-1/orders/7'],
    ['/m/{member.id}/orders', '/orders', 'm-1', '/m/m-1/orders', '/orders'],
    // By name and not by position: the client's value for the wildcard is never used as the member.
    ['/m/{member.id}/*', '/x/*/{member.id}', 'm-1', '/m/m-1/m-2', '/x/m-2/m-1'],
    ['/*/{member.id}', '/{member.id}/*/{member.id}', 'm-1', '/a/m-1', '/m-1/a/m-1'],
    ['/my', '/m/{member.id}', 'a b+c@d,é', '/my', '/m/a%20b%2Bc%40d%2C%C3%A9'],
    ['/my', '/m/{member.id}', '*', '/my', '/m/*'],
    ['/my/*', '/m/{member.id}/*', '**', '/my/x', '/m/**/x'],
  ])(
    'from %s to %s turns, for %3$s, %4$s into the upstream’s path, and back',
    (match, rewrite, sub, path, rewritten) => {
      const { inward, outward } = createRewrite(match, rewrite)(as(sub));
      expect(inward(path)).toBe(rewritten);
      expect(outward(rewritten)).toBe(path);
      expect(parseTarget(rewritten, 'http://a')?.path).toBe(rewritten);
    },
  );

  it('accepts the ID in any spelling that the route accepts', () => {
    const { inward, outward } = createRewrite('/m/{member.id}/x', '/n/{member.id}')(as('a!b'));
    expect([inward('/m/a!b/x'), inward('/m/a%21b/x')]).toEqual(['/n/a!b', '/n/a!b']);
    expect(outward('/n/%61%21b')).toBe('/m/a!b/x');
  });

  it('cannot map back the path of another member, or one that does not decode', () => {
    const { outward } = createRewrite('/my', '/m/{member.id}')(as('m-1'));
    for (const path of ['/m/m-2', '/m/M-1', '/m/%ff', '/m/*', '/m/', '/m/{member.id}', '/m/%7Bmember.id%7D'])
      expect(outward(path)).toBeUndefined();
  });

  it.each(['', '.', '..', '...', 'a/b', 'a\\b', 'a;b', 'a\0', 'a ', 'a\nb', '%2e', '%41', '\ud800', '．．', '／'])(
    'fails for the ID %j, which cannot be part of a path',
    (sub) => {
      expect(() => createRewrite('/my', '/m/{member.id}/x')(as(sub))).toThrow(
        expect.objectContaining({ code: 'internal' }),
      );
    },
  );

  it('fails for an anonymous request', () => {
    expect(() => createRewrite('/my', '/m/{member.id}')(ANONYMOUS)).toThrow(
      expect.objectContaining({ code: 'internal' }),
    );
  });

  it('puts any ID into one segment', () => {
    const rewriteFor = createRewrite('/my/*', '/m/{member.id}/*');
    const unit = fc.constantFrom('%2e', '.', '%', '/', '\\', ';', '?', '#', 'a', ' ', '*', 'é', '{', '\t');
    fc.assert(
      fc.property(fc.string({ unit }), (sub) => {
        let path: string;
        try {
          path = rewriteFor(as(sub)).inward('/my/x');
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'internal' });
          return;
        }
        expect(parseTarget(path, 'http://a')).toEqual({ path, query: '' });
        expect(path.split('/').map(decodeURIComponent)).toEqual(['', 'm', sub, 'x']);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('rewrites the path under the upstream’s base path, and keeps the query', async () => {
  const upstream = await startRecordingUpstream();
  const gate = await startGate(`${upstream.url}/base`, { rewrite: createRewrite('/api/**', '/v2/**')(ANONYMOUS) });
  await fetch(`${gate.url}/api/courses/1?x=/../%2e%2e&y=?`);
  expect(upstream.last().target).toBe('/base/v2/courses/1?x=/../%2e%2e&y=?');
  await gate.close();
  await upstream.close();
});
