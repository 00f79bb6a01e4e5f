/**
 * One attack on the gate: what is sent, and what must come of it. In `bytes`, {HOST} stands for the gate's host, {ORIGIN} for
 * its origin, {TOKEN} for a good access token of the member m-1, and {OTHER} for one of the member m-2. Text is Latin-1.
 */
export interface Attempt {
  /** Names the attempt in a failure: the family's vector, position, encoding and lane. */
  readonly name: string;
  readonly bytes: string;
  /** A request that is sent before on the same connection, and answered. */
  readonly first?: string;
  /** Where the bytes are divided into two writes, from 0 to 1; one write when left out. */
  readonly cut?: number;
  /** Whether the client sends FIN once everything is written. */
  readonly halfClose?: boolean;
  /** From which address of this machine; any when left out. */
  readonly from?: string;
  /** Which listener; the public one when left out. */
  readonly to?: 'admin';
  /** Prepares the upstream for this attempt. */
  readonly before?: () => void;
  readonly expected: Expected;
}

export interface Expected {
  /** The status of each response, in order; empty when the connection closes without one. One of several: a list. */
  readonly statuses: readonly (number | readonly number[])[];
  /** Whether the connection may be reset before the last response is read: the gate leaves bytes unread. */
  readonly mayReset?: boolean;
  /** The requests that reach the upstream, as `METHOD target` or `METHOD target body`; none when left out. */
  readonly upstream?: readonly string[];
  /** Milliseconds of computing that the gate's process may spend on it, measured in hundredths of a second. */
  readonly maxCpuMs?: number;
  /** What the responses contain, and what they do not. */
  readonly has?: RegExp;
  readonly lacks?: RegExp;
}

/** A refusal with this status, after which nothing has reached the upstream. */
export function refused(...statuses: readonly (number | readonly number[])[]): Expected {
  return { statuses };
}

export function lines(...fields: readonly string[]): string {
  return fields.map((field) => `${field}\r\n`).join('');
}

/** A whole request after which the connection closes. `fields` are whole lines. */
export function request(method: string, target: string, fields = '', body = ''): string {
  const length = body === '' ? '' : lines(`Content-Length: ${body.length}`);
  return `${method} ${target} HTTP/1.1\r\n${lines('Host: {HOST}', 'Connection: close')}${fields}${length}\r\n${body}`;
}

export const AS_MEMBER = lines('Authorization: Bearer {TOKEN}');

/** Every combination of one item of each list. */
export function product<A, B>(first: readonly A[], second: readonly B[]): (readonly [A, B])[] {
  return first.flatMap((a) => second.map((b) => [a, b] as const));
}

/** Repeatable random numbers from 0 to 1 (mulberry32): the same seed gives the same attempts. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** JSON in ASCII only, so that a character of the text is a byte on the wire. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export const JSON_TYPE = lines('Content-Type: application/json', 'Accept: application/json, text/event-stream');
export const FORM_TYPE = lines('Content-Type: application/x-www-form-urlencoded');

/** A form of these fields; undefined leaves one out. */
export function form(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return String(new URLSearchParams(given));
}
