import { cookieMatcher, cookiePairs } from '../http/cookie-names.ts';

/**
 * In: the cookies that may be told, by names in which `*` is any number of characters. Out: what takes a Cookie field
 * value and gives the pairs of those names, byte for byte and in the order received, twice where a name came twice;
 * never one of ours.
 */
export function cookieFilter(patterns: readonly string[]): (value: string) => string {
  const told = cookieMatcher(patterns);
  return (value) =>
    cookiePairs(value)
      .filter((pair) => told(pair.slice(0, Math.max(0, pair.indexOf('=')))))
      .join('; ');
}
