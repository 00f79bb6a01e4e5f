import type { IncomingHttpHeaders } from 'node:http';

const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** The value of our cookie with this name, 32 bytes in base64url; undefined if there is none or more than one. */
export function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && VALUE.test(value) ? value : undefined;
}
