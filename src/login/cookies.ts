import { cookieMatcher, cookiePairs } from '../http/cookie-names.ts';

/**
 * Creates a filter for the value of a Cookie header, from cookie names in which `*` matches any number of characters. It
 * keeps the matching pairs unchanged and in order, including repeated names, but never one of coursegate's own cookies.
 */
export function cookieFilter(patterns: readonly string[]): (value: string) => string {
  const matches = cookieMatcher(patterns);
  return (value) =>
    cookiePairs(value)
      .filter((pair) => matches(pair.slice(0, Math.max(0, pair.indexOf('=')))))
      .join('; ');
}
