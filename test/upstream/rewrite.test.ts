import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRewrite } from '../../src/upstream/rewrite.ts';
import { parseTarget } from '../../src/upstream/target.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startGate } from './gate.ts';

describe('a rewriting', () => {
  it.each([
    ['/api/v1/courses/**', '/internal/v2/courses/**', '/api/v1/courses/12/lessons', '/internal/v2/courses/12/lessons'],
    ['/api/v1/courses/**', '/internal/v2/courses/**', '/api/v1/courses', '/internal/v2/courses'],
    ['/api/v1/courses/**', '/internal/v2/courses/**', '/api/v1/courses/', '/internal/v2/courses/'],
    ['/api/**', '/**', '/api/a/b', '/a/b'],
    ['/**', '/legacy/**', '/a%2Bb', '/legacy/a%2Bb'],
    ['/u/*/orders/*', '/orders/*/of/*', '/u/1/orders/2', '/orders/1/of/2'],
    ['/me', '/member/profile', '/me', '/member/profile'],
    ['/kurse/größe', '/größe', '/kurse/gr%C3%B6%C3%9Fe', '/gr%C3%B6%C3%9Fe'],
  ])('from %s to %s makes %s %s, and back', (match, rewrite, path, rewritten) => {
    const { inward, outward } = createRewrite(match, rewrite);
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

  it('that leaves nothing is the root', () => {
    expect(createRewrite('/api/**', '/**').inward('/api')).toBe('/');
  });

  it('has no name for what lies elsewhere', () => {
    const { outward } = createRewrite('/api/*/x', '/in/*/y');
    for (const path of ['/in/1', '/in/1/y/z', '/in/1/z', '/other', '/']) expect(outward(path)).toBeUndefined();
  });

  it('of a canonical path is canonical, and no segment becomes two', () => {
    const { inward } = createRewrite('/a/*/**', '/x/*/y/**');
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

it('is what the upstream sees, under its own path, with the query as sent; its Location is told in our names', async () => {
  const upstream = await startRecordingUpstream();
  const gate = await startGate(`${upstream.url}/base`, { rewrite: createRewrite('/api/**', '/v2/**') });
  const located = async (location: string) => {
    upstream.script((_request, response) => void response.writeHead(302, { location }).end());
    const answer = await fetch(`${gate.url}/api/courses/1?x=/../%2e%2e&y=?`, { redirect: 'manual' });
    return answer.headers.get('location');
  };
  expect(await located('/base/v2/courses/2?a=1#b')).toBe('/api/courses/2?a=1#b');
  expect(upstream.last().target).toBe('/base/v2/courses/1?x=/../%2e%2e&y=?');
  expect(await located(`${upstream.url}/base/v2/courses/2`)).toBe('http://gate.test/api/courses/2');
  expect(await located('/base/elsewhere')).toBe('/elsewhere');
  expect(await located('https://other.test/v2/courses')).toBe('https://other.test/v2/courses');
  await gate.close();
  await upstream.close();
});
