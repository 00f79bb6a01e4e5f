import type { IncomingHttpHeaders } from 'node:http';

const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** Out: the value of our cookie of this name, 32 bytes in base64url; undefined when there is none, or several. */
export function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && VALUE.test(value) ? value : undefined;
}
