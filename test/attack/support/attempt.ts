/**
 * One attack on the gate: what is sent, and the expected result. In `bytes`, {HOST} stands for the gate's host, {ORIGIN}
 * for its origin, {TOKEN} for a valid access token of the member m-1, and {OTHER} for one of the member m-2. Text is
 * Latin-1.
 */
export interface Attempt {
  /** Names the attempt in a failure: the family's vector, position, encoding and lane. */
  readonly name: string;
  readonly bytes: string;
  /** A request that is sent and answered first, on the same connection. */
  readonly first?: string;
  /** Where to split the bytes into two writes, from 0 to 1. By default, there is one write. */
  readonly cut?: number;
  /** Whether the client sends FIN once everything is written. */
  readonly halfClose?: boolean;
  /** The source address on this machine. Default: any. */
  readonly from?: string;
  /** The listener. Default: the public one. */
  readonly to?: 'admin';
  /** Prepares the upstream for this attempt. */
  readonly before?: () => void;
  readonly expected: Expected;
}

export interface Expected {
  /** The status of each response, in order; empty if the connection closes without one. A list allows several statuses. */
  readonly statuses: readonly (number | readonly number[])[];
  /** Whether the connection may be reset before the last response is read, because the gate leaves bytes unread. */
  readonly mayReset?: boolean;
  /** The requests that reach the upstream, as `METHOD target` or `METHOD target body`. Default: none. */
  readonly upstream?: readonly string[];
  /**
   * The milliseconds of processor time that the gate may use for it on a usual machine, measured in steps of 10. An attempt
   * that takes more is repeated.
   */
  readonly maxCpuMs?: number;
  /** Texts that the responses must or must not contain. */
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

/** A complete request after which the connection closes. `fields` are complete header lines. */
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

/** A form with these fields; undefined omits one. */
export function form(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return String(new URLSearchParams(given));
}
