import { randomFillSync } from 'node:crypto';
import { withoutOws } from './ows.ts';

/** W3C Trace Context section 3.2: version 00 has exactly these four fields, later versions may have more. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** Section 3.3.1.3: a key, optionally with a tenant before it, and a value that does not end in a space. */
const TRACESTATE_MEMBER =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2B\x2D-\x3C\x3E-\x7E]{0,255}[\x21-\x2B\x2D-\x3C\x3E-\x7E]$/;
const MOST_MEMBERS = 32;
const LONGEST_STATE = 512;

/** The flags that are defined: sampled, and random trace id (section 3.2.2.5, and the same in Level 2). */
const SAMPLED = 1;
const KNOWN_FLAGS = 3;

const STOCK = 4096;
const stock = Buffer.alloc(STOCK);
let used = STOCK;

export function isTraceparent(value: string): boolean {
  return value.length <= 256 && TRACEPARENT.test(value) && (value.length === 55 || !value.startsWith('00'));
}

/**
 * W3C Trace Context section 3.3. The list is passed on unchanged or not at all: a part of it would have a different
 * meaning.
 */
export function isTracestate(value: string): boolean {
  if (value.length > LONGEST_STATE) return false;
  const members = value
    .split(',')
    .map((member) => withoutOws(member))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  return (
    members.length > 0 &&
    members.length <= MOST_MEMBERS &&
    keys.size === members.length &&
    members.every((member) => TRACESTATE_MEMBER.test(member))
  );
}

/**
 * Starts a new trace, sampled: most tracers follow their parent's decision, and an unsampled trace would turn off
 * tracing in every backend.
 */
export function newTraceparent(): string {
  const ids = randomHex(24);
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-01`;
}

/**
 * Continues a trace: calls that we make are children of this request, not of our caller (section 3.2.2.4). Returns
 * version 00, because the additions of later versions are unknown here (section 4.3).
 * @param parent a valid traceparent
 */
export function continuedTraceparent(parent: string): string {
  const flags = Number.parseInt(parent.slice(53, 55), 16) & (parent.startsWith('00') ? KNOWN_FLAGS : SAMPLED);
  return `00-${parent.slice(3, 35)}-${randomHex(8)}-0${flags}`;
}

/** The 32 hexadecimal digits of a traceparent that all spans of the trace share. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}

/**
 * Returns `bytes` random bytes in lower-case hexadecimal, from a buffer that is filled in one call for hundreds of
 * requests.
 */
export function randomHex(bytes: number): string {
  if (used + bytes > STOCK) {
    randomFillSync(stock);
    used = 0;
  }
  used += bytes;
  return stock.toString('hex', used - bytes, used);
}
