import { isOwnCookie } from '../http/own-cookie.ts';

/**
 * In: the cookies that may be told, by names in which `*` is any number of characters. Out: what takes a Cookie field
 * value and gives the pairs of those names, byte for byte and in the order received, twice where a name came twice;
 * never one of ours.
 */
export function cookieFilter(patterns: readonly string[]): (value: string) => string {
  const listed = patterns.map(namePattern);
  const told = (name: string) => name !== '' && !isOwnCookie(name) && listed.some((matches) => matches(name));
  return (value) =>
    value
      .split(';')
      // Not trim(): it takes a final byte A0, with which many a UTF-8 character ends, for a space.
      .map((pair) => pair.replace(/^[ \t]+|[ \t]+$/g, ''))
      .filter((pair) => told(pair.slice(0, Math.max(0, pair.indexOf('=')))))
      .join('; ');
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
