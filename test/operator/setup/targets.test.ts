import { describe, expect, it } from 'vitest';
import { ownTargets, targetsOf, UNUSUAL_TARGET } from '../../../src/operator/setup/snippets/targets.ts';
import { PLAIN_TARGETS } from '../../gateways/support/outside.ts';

const matches = (expression: string, target: string) => new RegExp(`^(?:${expression})(?:[?]|$)`, 'i').test(target);
const isUnusual = (target: string) => new RegExp(`^(?:${UNUSUAL_TARGET})`, 'i').test(target);

describe('the expressions for targets', () => {
  it.each(PLAIN_TARGETS)('take %s for plain', (target) => {
    expect(isUnusual(target)).toBe(false);
  });

  it.each([
    ...['/a/../b', '/a/.', '/./a', '/a.', '/a%20/b', '/a//b', '//', '/a;b', '/a\\b', '/a#b', '/a"b', '/a{b', '/a|b'],
    ...['/a\tb', '/a\x7f', '/\xe9', '/a%', '/a%2', '/a%zz', '/a%2zb', '/a%00', '/a%1f', '/a%7f', '/a%2f', '/a%5C'],
    ...['/a%3b', '/a%25', '/a%252e', '/a%2e', '/a%2E%2E/b', '/%61', '/%4D', '/%7e', '/%5F', '/%2d', '/%39'],
    ...['/%c0%ae', '/%c1%81', '/%e0%80%af', '/%f0%80%80%af', '/%f5%80%80%80', '/%ff', '/%c2%a0', '/%c2%ad'],
    ...['/%e2%80%8b', '/%e2%80%ae', '/%e2%81%a0', '/%ef%bb%bf', '/%ef%bc%8f', '/%ef%bd%8d'],
  ])('take %j for unusual', (target) => {
    expect(isUnusual(target)).toBe(true);
    // Whatever is in the query.
    expect([isUnusual(`${target}?x=y`), isUnusual(`/plain?${target}`)]).toEqual([true, false]);
  });

  it.each([
    ['/api/**', ['/api', '/api/', '/API/x/y?z=%2f'], ['/apis', '/x/api', '/ap']],
    ['/api/*/b', ['/api/1/b', '/api/1/b/', '/api/1/B?x'], ['/api/b', '/api/1/2/b', '/api//b', '/api/1/bb']],
    ['/a.b/é', ['/a.b/%C3%A9', '/a.b/%c3%a9/'], ['/aXb/%C3%A9', '/a.b']],
  ])('know the targets of %s', (pattern, its, others) => {
    const expression = targetsOf(pattern);
    expect(its.filter((target) => !matches(expression, target))).toEqual([]);
    expect(others.filter((target) => matches(expression, target))).toEqual([]);
  });

  it('know what is coursegate’s own', () => {
    const expression = ownTargets(['/oauth/apps', '/mcp', '/through/**']).join('|');
    const own = ['/oauth/x', '/api/oauth/token', '/mcp', '/mcp/', '/through', '/through/x'];
    const ours = [...own, '/.well-known/oauth-protected-resource/mcp', '/OAUTH/apps'];
    expect(ours.filter((target) => !matches(expression, target))).toEqual([]);
    expect(['/oauth', '/oauths/x', '/x/oauth/', '/mcp/x', '/'].filter((one) => matches(expression, one))).toEqual([]);
  });
});
