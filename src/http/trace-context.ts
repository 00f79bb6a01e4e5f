import { withoutOws } from './ows.ts';
import { randomHex } from './random-hex.ts';

/** W3C Trace Context §3.2: version 00 has these four fields and no more, later ones may go on. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

/** §3.3.1.3: a key, which a tenant may stand before, and a value that does not end in a blank. */
const TRACESTATE_MEMBER =
  /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2B\x2D-\x3C\x3E-\x7E]{0,255}[\x21-\x2B\x2D-\x3C\x3E-\x7E]$/;
const MOST_MEMBERS = 32;
const LONGEST_STATE = 512;

/** Of the flags, those that are defined: sampled, and that the trace id is random (§3.2.2.5, and Level 2 of it). */
const SAMPLED = 1;
const KNOWN_FLAGS = 3;

export function isTraceparent(value: string): boolean {
  return value.length <= 256 && TRACEPARENT.test(value) && (value.length === 55 || !value.startsWith('00'));
}

/** W3C Trace Context §3.3: a list that is passed on as it is, or not at all: in part it would tell something else. */
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
 * A new trace, sampled: most tracers decide as their parent did, and one that is not sampled would switch the tracing
 * of every backend off.
 */
export function newTraceparent(): string {
  return `00-${randomHex(16)}-${randomHex(8)}-01`;
}

/**
 * The same trace, one step on: whoever is asked next is a child of this request, and not of whoever asked us (§3.2.2.4).
 * In: a valid traceparent. Out: one of version 00, since what later versions add is unknown here (§4.3).
 */
export function continuedTraceparent(parent: string): string {
  const flags = Number.parseInt(parent.slice(53, 55), 16) & (parent.startsWith('00') ? KNOWN_FLAGS : SAMPLED);
  return `00-${parent.slice(3, 35)}-${randomHex(8)}-0${flags}`;
}

/** In: a traceparent. Out: the 32 hexadecimal digits that every span of the trace has in common. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
