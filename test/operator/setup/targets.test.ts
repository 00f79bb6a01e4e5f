import { describe, expect, it } from 'vitest';
import {
  ownTargets,
  targetsOf,
  UNUSUAL_DECODED,
  UNUSUAL_TARGET,
} from '../../../src/operator/setup/snippets/targets.ts';
import { PLAIN_TARGETS } from '../../gateways/support/outside.ts';
import { leastCost } from '../../support/pace.ts';

const UNUSUAL = new RegExp(`^(?:${UNUSUAL_TARGET})`, 'is');
const isUnusual = (target: string) => UNUSUAL.test(target);
const hex = (code: number) => code.toString(16).padStart(2, '0');
const codes = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** RFC 3986 section 3.3: what a segment of a path may have as it is, without the semicolon. */
const AS_IT_IS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,=:@";
/** ASCII that is escaped in a path because it must be, or may mean something else there. */
const ESCAPED = ' !"#$&\'()*+,:<=>?@[]^`{|}';

describe('a target', () => {
  it('is plain only with the characters that a path may have', () => {
    const plain = codes(0, 255).filter((code) => !isUnusual(`/a${String.fromCharCode(code)}b`));
    expect(
      String.fromCharCode(...plain)
        .split('')
        .toSorted(),
    ).toEqual([...`${AS_IT_IS}/?`].toSorted());
  });

  it('is plain only with the escapes that characters of ASCII need', () => {
    const plain = codes(0, 127).filter((code) => !isUnusual(`/a%${hex(code)}b`));
    expect(String.fromCharCode(...plain)).toBe(ESCAPED);
    for (const code of codes(0, 127)) {
      const upper = `/a%${hex(code).toUpperCase()}b`;
      expect([upper, isUnusual(upper)]).toEqual([upper, isUnusual(upper.toLowerCase())]);
    }
  });

  it('is plain with every character beyond ASCII but the invisible and the wide ones', () => {
    const unusual = codes(0x80, 0xffff)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .filter((code) => isUnusual(`/a${encodeURIComponent(String.fromCharCode(code))}b`));
    expect(unusual.map(hex)).toEqual(
      [
        ...[0xa0, 0xad],
        ...codes(0x2000, 0x200f),
        ...[0x2024, 0x2025],
        ...codes(0x2028, 0x202f),
        ...codes(0x2060, 0x207f),
        ...codes(0xfec0, 0xff7f),
      ].map(hex),
    );
    expect(isUnusual(`/${encodeURIComponent('\u{1F600}')}`)).toBe(false);
  });

  it.each([
    ...['/%c0%ae', '/%c1%9c', '/%e0%80%ae', '/%e0%9f%bf', '/%f0%80%80%ae', '/%f5%80%80%80', '/%ff'],
    ...['//', '/a//b', '/.', '/..', '/a/./b', '/a/../b', '/a/..', '/a/.?x', '/a.', '/a./b', '/a%20', '/a%20/b'],
    ...['/%', '/%4', '/%?', '/%4?', '/%g1', '/%1g', '/a%2', '/%%41', '/%2525'],
  ])('is unusual as %s', (target) => {
    expect(isUnusual(target)).toBe(true);
  });

  it.each([
    ...PLAIN_TARGETS,
    '/',
    '/a',
    '/a/',
    '/.well-known/x',
    '/a.b/c',
    '/a..b',
    '/...a',
    '/a?//..;%2f\\ #',
    '/a%20b',
    '/caf%C3%A9',
    '/@a:b',
  ])('is plain as %s', (target) => {
    expect(isUnusual(target)).toBe(false);
  });

  it.each(['%', '/', '.', '%20', '%4', 'a', '%c3%a9', '%e2%80'])('is read in linear time: %s', async (piece) => {
    const long = `/${piece.repeat(200_000)}`;
    const read = () => {
      isUnusual(long);
      for (const expression of ownTargets(['/api/*/b/**'])) new RegExp(`^(?:${expression})(?:[?]|$)`, 'i').test(long);
    };
    expect(await leastCost(2_000, read)).toBeLessThan(2_000);
  });
});

it('is unusual in the same characters where a gateway shows the path decoded', () => {
  const expression = new RegExp(`^${UNUSUAL_DECODED.replaceAll('\\x{', '\\u{')}`, 'ius');
  const characters = codes(0x20, 0xffff)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCharCode(code));
  const differing = characters.filter(
    (character) => expression.test(`/a${character}b`) !== isUnusual(`/a${encodeURIComponent(character)}b`),
  );
  // The escape of a slash looks like a slash, and what stands for bytes that are no text like that text.
  expect(differing).toEqual(['/', '\u{FFFD}']);
  for (const path of ['/a%', '/a%2e', '/%6d', '/a%25b', '/a%2fb', '/a\tb', '//', '/a./b', '/a /b', '/a\\b', '/a;b'])
    expect([path, expression.test(path)]).toEqual([path, true]);
});

describe('the targets of a route', () => {
  const matches = (pattern: string, target: string) =>
    new RegExp(`^(?:${targetsOf(pattern)})(?:[?]|$)`, 'i').test(target);

  it.each([
    [
      '/api/me',
      ['/api/me', '/api/me/', '/API/Me', '/api/me?x=/y'],
      ['/api/me/x', '/api/mex', '/x/api/me', '/api/me.x'],
    ],
    ['/api/**', ['/api', '/api/', '/api/x/y', '/api?x', '/API/x'], ['/apis', '/', '/x?/api/']],
    ['/a/*/b', ['/a/x/b', '/a/x/b/'], ['/a/b', '/a/x/y/b', '/a/x?/b', '/a//b']],
    ['/a/{member.id}/**', ['/a/7/', '/a/7/x'], ['/a']],
    ['/caf\u00e9/a%20b', ['/caf%C3%A9/a%20b', '/caf%c3%a9/A%20B'], ['/cafe/a%20b', '/caf/a b']],
    ['/a.b+(c)', ['/a.b+(c)'], ['/aXb+(c)', '/a.bb(c)']],
    ['/**', ['/', '/x'], []],
  ])('of %s', (pattern, those, others) => {
    expect(those.filter((target) => !matches(pattern, target))).toEqual([]);
    expect(others.filter((target) => matches(pattern, target))).toEqual([]);
  });
});

it('leaves coursegate whatever is below its own prefixes', () => {
  const own = ownTargets(['/mcp', '/oauth/authorize', '/.well-known/oauth-protected-resource', '/through/**']);
  const isOwn = (target: string) => new RegExp(`^(?:${own.join('|')})(?:[?]|$)`, 'i').test(target);
  const theirs = ['/mcp', '/mcp/', '/MCP?x', '/oauth/authorize', '/oauth/x', '/through/x', '/api/oauth/x'];
  const metadata = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];
  expect([...theirs, ...metadata].filter((target) => !isOwn(target))).toEqual([]);
  expect(['/', '/oauth', '/mcps', '/pages/oauth/', '/.well-known/security.txt'].filter(isOwn)).toEqual([]);
});
