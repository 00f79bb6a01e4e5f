import type { IncomingHttpHeaders } from 'node:http';
import { cookieMatcher, cookiePairs } from '../http/cookie-names.ts';
import { isOwnCookie } from '../http/own-cookie.ts';
import type { Log } from '../operations/log.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import type { Clock } from '../storage/store.ts';

/** Milliseconds between two lines: strangers can come back without a session as often as they like. */
const INTERVAL = 60_000;
const MOST_NAMES = 20;
/** In characters. */
const LONGEST_NAME = 64;

/**
 * Creates the function that logs, at most once a minute, with which cookies a browser came back from the sign-in page
 * without being signed in: their names, and never a value. A misspelt name in `login.cookies` shows in nothing else.
 */
export function anonymousReturns(
  configured: readonly string[],
  { log, clock }: { readonly log: Pick<Log, 'warn'>; readonly clock: Clock },
): (headers: IncomingHttpHeaders) => void {
  const listed = cookieMatcher(configured);
  const warnRarely = createLogThrottle({ clock, lines: 1, apart: INTERVAL });
  return ({ cookie = '' }) => {
    const names = cookiePairs(cookie).flatMap((pair) => (pair.includes('=') ? [pair.slice(0, pair.indexOf('='))] : []));
    const came = [...new Set(names.filter((name) => name !== '' && !isOwnCookie(name)))];
    const message = came.some(listed)
      ? 'a member came back from the sign-in page with a cookie of login.cookies, but login.whoami names no member: they did not sign in, or login.whoami does not find the id'
      : 'a member came back from the sign-in page without any of login.cookies: they did not sign in, or the session cookie has another name or does not reach the gate';
    warnRarely('', () => log.warn({ came: came.slice(0, MOST_NAMES).map(shown), configured }, message));
  };
}

/** Bytes that no cookie name has (RFC 6265 section 4.1.1) could control a terminal. */
function shown(name: string): string {
  return name.slice(0, LONGEST_NAME).replace(/[^!#$%&'*+\-.^_`|~0-9A-Za-z]/g, '?');
}
