import { decodedComponent } from '../../../http/percent.ts';
import { escaped, type SegmentSyntax, segmentExpression } from './segment-expression.ts';

/**
 * Expressions for the targets of requests as they were sent, in syntax that every engine supports. They are to be used
 * without regard to case, from the beginning of a target, and they match up to its query.
 */

const ESCAPES = '%(?:$|.$|[^0-9a-f]|.[^0-9a-f]|[01].|2[5d-f]|3[0-9b]|[46][1-9a-f]|5[0-9acf]|7[0-9aef])';

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
    expression: `[^?]*${ESCAPES}`,
  },
  {
    what: 'Bytes that are no UTF-8 in its shortest form, invisible characters, and other forms of ASCII characters',
    expression: '[^?]*%(?:c[01]|c2%a[0d]|e0%[89]|e2%80%(?:8|a[4589a-f])|e2%81%[a-f]|ef%b[bcd]|f0%8|f[5-9a-f])',
  },
];

/** All of them in one. */
export const UNUSUAL_TARGET = UNUSUAL_TARGETS.map(({ expression }) => expression).join('|');

/**
 * The same for Traefik, which does not show the target as it was sent, but its path, with some of the escapes decoded.
 * Bytes that are no UTF-8 are U+FFFD there. What it decodes, such as `%61`, it reads as coursegate and the backend do.
 */
export const UNUSUAL_DECODED = `.*(?:[\\x00-\\x1f\\x7f\\\\;\\x{A0}\\x{AD}\\x{2000}-\\x{200F}\\x{2024}\\x{2025}\\x{2028}-\\x{202F}\\x{2060}-\\x{207F}\\x{FEC0}-\\x{FF7F}\\x{FFFD}]|//|[. ](?:/|$)|${ESCAPES})`;

/** Prefixes that belong to coursegate entirely: the site must not receive unknown paths below them. */
export const OWN_PREFIXES: readonly string[] = [
  ...['/oauth/', '/api/oauth/'],
  // Apps append paths to these to find metadata. A site that answers with an HTML page would mislead them.
  ...['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'].map(
    (name) => `/.well-known/${name}/`,
  ),
];

/** How the targets of a pattern are written. */
interface TargetForm extends SegmentSyntax {
  /** What may follow a prefix. */
  readonly any: string;
}

const AS_SENT: TargetForm = {
  any: '[^?]*',
  rest: '(?:/[^?]*)?',
  one: '/[^/?]+',
  fixed: (segment) => escaped(inAscii(segment)),
};

/** For Traefik: see `UNUSUAL_DECODED`. */
export const DECODED: TargetForm = {
  any: '.*',
  rest: '(?:/.*)?',
  one: '/[^/]+',
  fixed: (segment) => escaped(decodedComponent(segment) ?? segment),
};

/** What coursegate answers or forwards itself, by the patterns of its routes. Some programs limit the length of each. */
export function ownTargets(patterns: readonly string[], form = AS_SENT): readonly string[] {
  const others = patterns.filter((pattern) => !OWN_PREFIXES.some((prefix) => pattern.startsWith(prefix)));
  return [
    ...OWN_PREFIXES.map((prefix) => `${escaped(prefix)}${form.any}`),
    ...others.map((pattern) => targetsOf(pattern, form)),
  ];
}

/** The targets of a route's pattern, and those with a final slash, which coursegate refuses. */
export function targetsOf(pattern: string, form = AS_SENT): string {
  const expression = segmentExpression(pattern, form);
  if (pattern.endsWith('/**')) return expression;
  return `${pattern.endsWith('/') ? expression.slice(0, -1) : expression}/?`;
}

export function inAscii(segment: string): string {
  return segment.replace(/[^\x21-\x7E]+/g, encodeURIComponent);
}
