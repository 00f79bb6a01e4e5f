import { decodedComponent } from '../../http/percent.ts';
import type { CookieChange } from './set-cookie.ts';

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
