import { escaped, withFinalSlash } from './segment-expression.ts';

/**
 * An unanchored expression for the decoded path of a route's requests, in syntax that every engine supports. It is to be
 * used without regard to case, and so that a dot matches line breaks. It also matches a final slash, which the gate refuses.
 */
export function pathExpression(pattern: string): string {
  return withFinalSlash(pattern, { rest: '(/.*)?', one: '/[^/]+', fixed: literal });
}

/**
 * Paths that two servers may read differently, for a gateway that shows only the path, with some of its escapes decoded, in
 * characters of Unicode.
 */
export const UNUSUAL_DECODED = `.*(?:${[
  '[\\x00-\\x1f\\x7f\\\\;#\\x{FFFD}\\x{FF0F}\\x{FF1B}\\x{FF3C}]|//',
  '(?:[. ]|%2e|%20)(?:/|$)',
  '%(?:[01][0-9a-f]|7f|2f|5c|3b|25[0-9a-f]|[46][1-9a-f]|[57][0-9a]|3[0-9]|2[de])',
  '/[\\x20-.0-~]*[\\x{A0}\\x{AD}\\x{2000}-\\x{200F}\\x{2024}-\\x{202F}\\x{2060}-\\x{206F}\\x{FEFF}\\x{FF00}-\\x{FFEF}][\\x20-.0-~\\x{FF00}-\\x{FFEF}]*(?:/|$)',
].join('|')}).*`;

function literal(segment: string): string {
  let decoded = segment;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    // As it is written, then.
  }
  return escaped(decoded);
}
