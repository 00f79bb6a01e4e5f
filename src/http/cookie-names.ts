import { isOwnCookie } from './own-cookie.ts';
import { withoutOws } from './ows.ts';

/**
 * In: cookies by names in which `*` is any number of characters. Out: whether a name is one of them, in time
 * proportional to its length; never one of ours.
 */
export function cookieMatcher(patterns: readonly string[]): (name: string) => boolean {
  const listed = patterns.map(namePattern);
  return (name) => name !== '' && !isOwnCookie(name) && listed.some((matches) => matches(name));
}

/** In: a Cookie field value (RFC 6265 §5.4). Out: its `name=value` pairs in the order received, byte for byte. */
export function cookiePairs(value: string): readonly string[] {
  // Not trim(): it takes a final byte A0, with which many a UTF-8 character ends, for a space.
  return value.split(';').map((pair) => withoutOws(pair));
}

/** In: a name with `*`. Out: whether a name is like it, in time proportional to its length. */
export function namePattern(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let from = first.length;
    for (const piece of rest) {
      const found = name.indexOf(piece, from);
      if (found === -1) return false;
      from = found + piece.length;
    }
    return name.length - last.length >= from && name.endsWith(last);
  };
}
