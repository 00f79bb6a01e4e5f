import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatChallenge } from '../../src/oauth/challenge.ts';
import { covers, formatScope, isScopeToken, parseScope } from '../../src/oauth/scope.ts';

/** RFC 6749 §3.3, written out a second time. */
const CHARACTERS = Array.from({ length: 0x7f - 0x21 }, (_, at) => String.fromCharCode(0x21 + at)).filter(
  (character) => character !== '"' && character !== '\\',
);
const scopeToken = fc.string({ unit: fc.constantFrom(...CHARACTERS), minLength: 1, maxLength: 12 });

describe('a scope', () => {
  it.each<[string, string[] | undefined]>([
    ['', []],
    ['openid', ['openid']],
    ['openid courses:read', ['openid', 'courses:read']],
    ['  openid   courses:read ', ['openid', 'courses:read']],
    ['a b a', ['a', 'b']],
    ['A a', ['A', 'a']],
    ['courses:read,orders:read', ['courses:read,orders:read']],
    ['a\tb', undefined],
    ['a\nb', undefined],
    ['a\u00a0b', undefined],
    ['a"b', undefined],
    ['a\\b', undefined],
    ['a\0', undefined],
    ['é', undefined],
  ])('of %j is parsed as %j', (value, tokens) => {
    const scope = parseScope(value);
    expect(scope === undefined ? undefined : [...scope]).toEqual(tokens);
  });

  it('is the same after formatting and parsing', () => {
    fc.assert(
      fc.property(fc.uniqueArray(scopeToken), (tokens) => {
        expect([...(parseScope(formatScope(tokens)) ?? ['no'])]).toEqual(tokens);
      }),
    );
  });

  it('is the same after parsing, formatting and parsing any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const scope = parseScope(value);
        if (scope === undefined) return;
        expect([...scope].every(isScopeToken)).toBe(true);
        expect(parseScope(formatScope(scope))).toEqual(scope);
      }),
    );
  });

  it('covers exactly the scopes it names', () => {
    const granted = new Set(['courses:read', 'openid']);
    expect(covers(granted, ['openid', 'courses:read'])).toBe(true);
    expect(covers(granted, [])).toBe(true);
    for (const like of [
      'courses:read2',
      'courses',
      'courses:',
      'COURSES:READ',
      'courses:read courses:write',
      '*',
      '',
    ]) {
      expect(covers(granted, [like])).toBe(false);
    }
  });

  it('cannot break out of its quotes in a challenge, whatever a route or a scope is called', () => {
    const anything = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 });
    const hostile = fc.string({ unit: fc.oneof(fc.constantFrom('"', '\\', '\r', '\n', ','), anything) });
    fc.assert(
      fc.property(hostile, hostile, (description, name) => {
        const challenge = formatChallenge({
          scheme: 'Bearer',
          status: 401,
          error: 'invalid_token',
          description,
          resourceMetadata: 'https://school.example/.well-known/oauth-protected-resource',
          scope: new Set([name]),
        });
        const quoted = String.raw`"(?:[^"\\\x00-\x08\x0a-\x1f\x7f-\u{10ffff}]|\\["\\])*"`;
        expect(challenge).toMatch(new RegExp(`^Bearer [a-z_]+=${quoted}(, [a-z_]+=${quoted})*$`, 'u'));
        expect(() => new Headers({ 'www-authenticate': challenge })).not.toThrow();
      }),
    );
  });
});
