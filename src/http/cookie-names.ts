import { isOwnCookie } from './own-cookie.ts';
import { withoutOws } from './ows.ts';

/**
 * Returns a test for cookie names, in time proportional to the name's length. `*` in a pattern stands for any number of
 * characters. Never matches one of the gate's own cookies.
 */
export function cookieMatcher(patterns: readonly string[]): (name: string) => boolean {
  const listed = patterns.map(namePattern);
  return (name) => name !== '' && !isOwnCookie(name) && listed.some((matches) => matches(name));
}

/**
 * Splits a Cookie field value (RFC 6265 section 5.4) into its `name=value` pairs, in the order received, byte for byte.
 */
export function cookiePairs(value: string): readonly string[] {
  // Not trim(): it would remove a final byte A0, with which many UTF-8 characters end, as a space.
  return value.split(';').map((pair) => withoutOws(pair));
}

/** The values of a cookie, in the order received: several paths, and neighbouring sites, may have set one each. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  const start = `${name}=`;
  return cookiePairs(header ?? '').flatMap((pair) => (pair.startsWith(start) ? [pair.slice(start.length)] : []));
}

/** Returns a test for names that match a pattern with `*`, in time proportional to the name's length. */
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
