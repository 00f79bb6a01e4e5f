import { decodedComponent } from '../../http/percent.ts';
import { deletesCookie, readSetCookie } from '../../http/set-cookie.ts';

/** A change to one cookie of a session: its new value, or undefined if it was deleted. */
interface CookieChange {
  readonly name: string;
  readonly value: string | undefined;
}

/** Names and values as the browser sent them, or as a backend last set them. */
export type SessionCookies = readonly (readonly [name: string, value: string])[];

export function cookieValue(cookies: SessionCookies, wanted: string): string | undefined {
  return cookies.findLast(([name]) => name === wanted)?.[1];
}

export function header(cookies: SessionCookies, listed: (name: string) => boolean): string {
  return cookies
    .filter(([name]) => listed(name))
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}

/**
 * The changes that a response's Set-Cookie fields make to cookies for which `listed` is true. If a name occurs more than
 * once, the last one counts. Domain, Path and similar attributes are ignored: we send the cookie only to the upstream
 * that set it.
 * @param now milliseconds since the epoch
 */
export function cookieChanges(
  setCookie: readonly string[],
  listed: (name: string) => boolean,
  now: number,
): readonly CookieChange[] {
  const changes = new Map<string, CookieChange>();
  for (const cookie of setCookie.flatMap((field) => readSetCookie(field) ?? [])) {
    const { name } = cookie;
    if (listed(name)) changes.set(name, { name, value: deletesCookie(cookie, now) ? undefined : cookie.value });
  }
  return [...changes.values()];
}

export function changed(cookies: SessionCookies, changes: readonly CookieChange[]): SessionCookies {
  const names = new Set(changes.map(({ name }) => name));
  return [
    ...cookies.filter(([name]) => !names.has(name)),
    ...changes.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
  ];
}

/** Scripts that read such a token decode it (Laravel, Angular). One that is not encoded stays as it is. */
export function decoded(value: string): string {
  const text = decodedComponent(value);
  return text !== undefined && /^[\x20-\x7E]*$/.test(text) ? text : value;
}
