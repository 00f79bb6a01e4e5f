import { isOwnCookie } from '../../http/own-cookie.ts';
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
      for (const { name, value } of deleted(answer, clock)) {
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
  return deleted(answer, clock).flatMap(({ name, value }) => (value === undefined || value === '' ? [] : [name]));
}

/** The cookies that a response sets; without a value for those it deletes (RFC 6265 sections 5.2 and 5.3). */
function deleted(answer: UpstreamResponse, clock: () => number) {
  return (answer.headers['set-cookie'] ?? '').split('\n').flatMap((line) => {
    const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, Math.max(0, pair.indexOf('=')));
    if (!PAIR.test(pair) || isOwnCookie(name)) return [];
    const said = (attribute: string) =>
      attributes.findLast((given) => given.toLowerCase().startsWith(`${attribute}=`))?.slice(attribute.length + 1);
    const [age, expires] = [said('max-age'), Date.parse(said('expires') ?? '')];
    const gone = age === undefined ? expires <= clock() : Number(age) <= 0;
    return [{ name, value: gone ? undefined : pair.slice(name.length + 1) }];
  });
}
