import { escaped, withFinalSlash } from './segment-expression.ts';

/**
 * Expressions for the targets of requests as they were sent, in syntax that every engine supports. They are to be used
 * without regard to case, from the beginning of a target, and they match up to its query.
 */

/**
 * Targets that two servers may read differently. A gateway sends them to coursegate, whatever they are below, and
 * coursegate judges them as it does in proxy mode. All other targets are plain: each byte of their path is there in its
 * only usual spelling, so the beginning of the path says whom they are for.
 */
export const UNUSUAL_TARGETS: readonly { readonly what: string; readonly expression: string }[] = [
  {
    what: 'Characters that a path must escape, backslashes and semicolons, empty segments, and segments that end in a dot or a space',
    expression: "[^?]*(?:[^A-Za-z0-9._~!$&'()*+,=:@/%?-]|//|(?:[.]|%20)(?:[/?]|$))",
  },
  {
    what: 'Escapes that are broken, of control characters, of % / \\ ; and of characters that need none',
    expression: '[^?]*%(?:$|.$|[^0-9a-f]|.[^0-9a-f]|[01].|2[5d-f]|3[0-9b]|[46][1-9a-f]|5[0-9acf]|7[0-9aef])',
  },
  {
    what: 'Bytes that are no UTF-8 in its shortest form, invisible characters, and other forms of ASCII characters',
    expression: '[^?]*%(?:c[01]|c2%a[0d]|e0%[89]|e2%80%(?:8|a[4589a-f])|e2%81%[a-f]|ef%b[bcd]|f0%8|f[5-9a-f])',
  },
];

/** All of them in one. */
export const UNUSUAL_TARGET = UNUSUAL_TARGETS.map(({ expression }) => expression).join('|');

/** Prefixes that belong to coursegate entirely: the site must not receive unknown paths below them. */
const OWN = [
  ...['/oauth/', '/api/oauth/'],
  // Apps append paths to these to find metadata. A site that answers with an HTML page would mislead them.
  ...['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'].map(
    (name) => `/.well-known/${name}/`,
  ),
];

/** What coursegate answers or forwards itself, by the patterns of its routes. Some programs limit the length of each. */
export function ownTargets(patterns: readonly string[]): readonly string[] {
  const others = patterns.filter((pattern) => !OWN.some((prefix) => pattern.startsWith(prefix)));
  return [...OWN.map((prefix) => `${escaped(prefix)}[^?]*`), ...others.map(targetsOf)];
}

/** The targets of a route's pattern, and those with a final slash, which coursegate refuses. */
export function targetsOf(pattern: string): string {
  return withFinalSlash(pattern, {
    rest: '(?:/[^?]*)?',
    one: '/[^/?]+',
    fixed: (segment) => escaped(inAscii(segment)),
  });
}

export function inAscii(segment: string): string {
  return segment.replace(/[^\x21-\x7E]+/g, encodeURIComponent);
}
