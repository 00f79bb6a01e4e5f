import { escaped, withFinalSlash } from './segment-expression.ts';

/**
 * An unanchored expression for the decoded path of a route's requests, in syntax that every engine supports. It is to be
 * used without regard to case, and so that a dot matches line breaks. It also matches a final slash, which the gate refuses.
 */
export function pathExpression(pattern: string): string {
  return withFinalSlash(pattern, { rest: '(/.*)?', one: '/[^/]+', fixed: literal });
}

const END = '(?:[/?]|$)';

/** A segment of ASCII but for characters that are not displayed, or that backends convert to ASCII. */
function disguised(plain: string, hidden: string): string {
  return `/[^%/?]*(?:${plain}[^%/?]*)*(?:${hidden})[^%/?]*(?:(?:${plain}|${hidden})[^%/?]*)*${END}`;
}

/**
 * An expression for the beginning of targets, as they were sent, that two servers may read differently: with an empty or
 * dot segment, a backslash or semicolon, a control or non-ASCII character, an encoded separator, an escape that is
 * broken or encoded again, overlong UTF-8, or a disguised segment. They go to the gate, which judges them as it does in
 * proxy mode. To be used without regard to case. For engines without lookahead and backreferences, too.
 */
export const UNUSUAL = `[^?]*(?:${[
  '[^!-~]|[\\\\;#]|//',
  `(?:[.]|%2e|%20)${END}`,
  '%(?:[01][0-9a-f]|7f|2f|5c|3b|c[01]|f[5-9a-f]|e0%[89]|f0%8|ef%bc%(?:8f|9b|bc))',
  '%(?:[^0-9a-f]|[0-9a-f](?:[^0-9a-f]|$)|$)',
  '%25(?:[0-9a-f]|%3[0-9]|%[46][1-6]){2}',
  disguised(
    '%[2-7][0-9a-f]',
    '%(?:c2%a[0d]|e2%80%(?:8[0-9a-f]|a[4-f])|e2%81%a[0-9a-f]|ef%bb%bf|ef%b[cd]%[89ab][0-9a-f])',
  ),
].join('|')})|.*#`;

/** The same for a gateway that shows only the path, with some of its escapes decoded, in characters of Unicode. */
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
