import { Readable } from 'node:stream';
import type { HttpRequest } from '../http-client.ts';

/** The methods that have a body (RFC 9110 section 9.3, and WebDAV). */
const WITH_BODY = new Set(['PATCH', 'POST', 'PROPFIND', 'PROPPATCH', 'PUT', 'QUERY']);

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PATH = /^\/[\x21-\xFF]*$/;
const ILLEGAL_VALUE = /[^\t\x20-\x7E\x80-\xFF]/;

/** How the line of a name begins that has passed the checks of `ownName`. Few, unless clients make names up. */
const BEGINNINGS = new Map<string, string>();
const MOST_NAMES = 1_000;

/** The lines of the fields that many requests have in common. */
const COMMON = new WeakMap<object, string>();

/** The parts of the head that is being written: joined, they are one string, without one for each step on the way. */
const parts: string[] = [];

export interface RequestHead {
  /** Everything; but if the body is a stream, everything before the framing, and no CRLF at its end. */
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
export function requestHead({ method, path, headers, common, body }: HttpRequest): RequestHead {
  if (!TOKEN.test(method) || !PATH.test(path)) throw new TypeError('The request line is invalid.');
  const expectsBody = WITH_BODY.has(method);
  // Servers disagree on whether such a request has a body, and whether such a response has one.
  const closes = method === 'HEAD' || (body !== null && !expectsBody);
  let length: number | undefined;
  let hosts = 0;
  parts[0] = `${method} ${path} HTTP/1.1\r\nConnection: ${closes ? 'close' : 'keep-alive'}`;
  let count = 1;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (ILLEGAL_VALUE.test(value)) throw new TypeError(`The value of ${name} is invalid.`);
    let beginning = BEGINNINGS.get(name);
    if (beginning === undefined) {
      const own = ownName(name);
      if (own === 'content-length') {
        if (length !== undefined || !/^[0-9]+$/.test(value)) throw new TypeError('The length is invalid.');
        length = Number(value);
        continue;
      }
      if (own === 'host') hosts += 1;
      beginning = beginningOf(name);
    }
    parts[count] = beginning;
    parts[count + 1] = value;
    count += 2;
  }
  if (hosts !== 1) throw new TypeError('There must be one Host.');
  parts[count] = common === undefined ? '' : (COMMON.get(common) ?? commonLines(common));
  parts[count + 1] = framingOf(body, length, expectsBody);
  parts.length = count + 2;
  return { text: parts.join(''), length, closes, expectsBody };
}

function framingOf(body: HttpRequest['body'], declared: number | undefined, expectsBody: boolean): string {
  if (body instanceof Readable) return '';
  const length = body === null ? 0 : Buffer.byteLength(body);
  if (declared !== undefined && declared !== length) throw new TypeError('The length is wrong.');
  return expectsBody || length > 0 ? `\r\nContent-Length: ${length}\r\n\r\n` : '\r\n\r\n';
}

function commonLines(fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries(fields).map(([name, value]) => {
    if (ILLEGAL_VALUE.test(value) || ownName(name) !== undefined) throw new TypeError(`${name} is not to be set.`);
    return beginningOf(name) + value;
  });
  const text = lines.join('');
  COMMON.set(fields, text);
  return text;
}

function beginningOf(name: string): string {
  return `\r\n${name}: `;
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
      if (BEGINNINGS.size < MOST_NAMES) BEGINNINGS.set(name, beginningOf(name));
      return undefined;
  }
}
