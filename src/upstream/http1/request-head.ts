import type { HttpRequest } from '../http-client.ts';

/** The methods that have a body (RFC 9110 section 9.3, and WebDAV). */
const WITH_BODY = new Set(['PATCH', 'POST', 'PROPFIND', 'PROPPATCH', 'PUT', 'QUERY']);

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PATH = /^\/[\x21-\xFF]*$/;
const ILLEGAL_VALUE = /[^\t\x20-\x7E\x80-\xFF]/;

/** Names that `TOKEN` and the checks of `own` have been seen to accept. Few, unless clients make names up. */
const PLAIN_NAMES = new Set<string>();
const MOST_NAMES = 1_000;

export interface RequestHead {
  /** Everything but the framing and the empty line. */
  readonly text: string;
  /** The Content-Length of a body that is a stream; undefined if it is sent in chunks. */
  readonly length: number | undefined;
  /** The upstream has to close the connection afterwards. */
  readonly closes: boolean;
  /** A request without a body says so. */
  readonly expectsBody: boolean;
}

/**
 * Writes the head of a request. Throws TypeError for whatever would not be one field or one request line, or would set
 * the framing twice: all of it was checked before, so that is a bug in our code.
 */
export function requestHead({ method, path, headers, body }: HttpRequest): RequestHead {
  if (!TOKEN.test(method) || !PATH.test(path)) throw new TypeError('The request line is invalid.');
  const expectsBody = WITH_BODY.has(method);
  // Servers disagree on whether such a request has a body, and whether such a response has one.
  const closes = method === 'HEAD' || (body !== null && !expectsBody);
  let length: number | undefined;
  let hosts = 0;
  let text = `${method} ${path} HTTP/1.1\r\nConnection: ${closes ? 'close' : 'keep-alive'}\r\n`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (ILLEGAL_VALUE.test(value)) throw new TypeError(`The value of ${name} is invalid.`);
    if (!PLAIN_NAMES.has(name)) {
      const own = ownName(name);
      if (own === 'content-length') {
        if (length !== undefined || !/^[0-9]+$/.test(value)) throw new TypeError('The length is invalid.');
        length = Number(value);
        continue;
      }
      if (own === 'host') hosts += 1;
    }
    text += `${name}: ${value}\r\n`;
  }
  if (hosts !== 1) throw new TypeError('There must be one Host.');
  return { text, length, closes, expectsBody };
}

/** Returns the name of a field that must be unique, and throws TypeError for those that only we may set. */
function ownName(name: string): string | undefined {
  const known = name.toLowerCase();
  switch (known) {
    case 'host':
    case 'content-length':
      return known;
    case 'connection':
    case 'expect':
    case 'keep-alive':
    case 'te':
    case 'trailer':
    case 'transfer-encoding':
    case 'upgrade':
      throw new TypeError(`${name} is not to be set.`);
    default:
      if (!TOKEN.test(name)) throw new TypeError('The name of a field is invalid.');
      if (PLAIN_NAMES.size < MOST_NAMES) PLAIN_NAMES.add(name);
      return undefined;
  }
}
