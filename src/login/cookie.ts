import type { IncomingHttpHeaders } from 'node:http';
import { cookieValues } from '../http/cookie-names.ts';

const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** The value of our cookie with this name, 32 bytes in base64url; undefined if there is none or more than one. */
export function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  const [value, ...others] = cookieValues(headers.cookie, name);
  return others.length === 0 && value !== undefined && VALUE.test(value) ? value : undefined;
}
