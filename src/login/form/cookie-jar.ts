import { isOwnCookie } from '../../http/own-cookie.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import { unusable } from '../whoami/unusable.ts';

/** More than any site sets, and less than any server takes. */
const LARGEST = 8192;

const PAIR = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+=[\x21-\x3A\x3C-\x7E]*$/;

/** The cookies that one backend has set for one sign-in. */
export interface CookieJar {
  /** Takes what an answer sets and deletes. Throws GatewayError `login_unavailable` when it is too much to carry. */
  take(answer: UpstreamResponse): void;
  /** The Cookie field: empty when there are none. */
  header(): string;
}

export function createCookieJar(clock: () => number): CookieJar {
  const cookies = new Map<string, string>();
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    take(answer) {
      for (const { name, value } of deleted(answer, clock)) {
        if (value === undefined) cookies.delete(name);
        else cookies.set(name, value);
      }
      if (header().length > LARGEST) throw unusable('more cookies than can be carried');
    },
    header,
  };
}

/** Out: the names of the cookies that an answer sets to something. */
export function cookiesSet(answer: UpstreamResponse, clock: () => number): readonly string[] {
  return deleted(answer, clock).flatMap(({ name, value }) => (value === undefined || value === '' ? [] : [name]));
}

/** What an answer says of cookies; without a value: delete it (RFC 6265 §5.2, §5.3). */
function deleted(
  answer: UpstreamResponse,
  clock: () => number,
): readonly { readonly name: string; readonly value: string | undefined }[] {
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
