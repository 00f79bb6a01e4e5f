import { isOwnCookie } from '../../http/own-cookie.ts';
import { deletesCookie, readSetCookie } from '../../http/set-cookie.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import { unusable } from '../whoami/unusable.ts';

/** Bytes. More than any site sets, and less than any server accepts. */
const LARGEST = 8192;

const PAIR = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+=[\x21-\x3A\x3C-\x7E]*$/;

/** The cookies that the backend has set during one sign-in. */
export type CookieJar = ReturnType<typeof createCookieJar>;

export function createCookieJar(clock: () => number) {
  const cookies = new Map<string, string>();
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    /**
     * Applies the Set-Cookie headers of a response.
     *
     * @throws {GatewayError} `login_unavailable` when they are too large
     */
    take(answer: UpstreamResponse): void {
      for (const { name, value } of changesOf(answer, clock)) {
        if (value === undefined) cookies.delete(name);
        else cookies.set(name, value);
      }
      if (header().length > LARGEST) throw unusable('with too many cookies');
    },
    /** The value of the Cookie header; empty if there are no cookies. */
    header,
  };
}

/** The names of the cookies that a response sets to a non-empty value. */
export function cookiesSet(answer: UpstreamResponse, clock: () => number): readonly string[] {
  return changesOf(answer, clock).flatMap(({ name, value }) => (value === undefined || value === '' ? [] : [name]));
}

/** The cookies that a response sets; without a value for those it deletes (RFC 6265 sections 5.2 and 5.3). */
function changesOf(answer: UpstreamResponse, clock: () => number) {
  return (answer.headers['set-cookie'] ?? '').split('\n').flatMap((field) => {
    const cookie = readSetCookie(field);
    if (cookie === undefined) return [];
    const { name, value } = cookie;
    if (!PAIR.test(`${name}=${value}`) || isOwnCookie(name)) return [];
    return [{ name, value: deletesCookie(cookie, clock()) ? undefined : value }];
  });
}
