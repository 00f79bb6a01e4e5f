import { randomHex } from './random-hex.ts';

/** W3C Trace Context §3.2: version 00 has these four fields and no more, later ones may go on. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/;

export function isTraceparent(value: string): boolean {
  return value.length <= 256 && TRACEPARENT.test(value) && (value.length === 55 || !value.startsWith('00'));
}

/** W3C Trace Context §3.3: a list that is passed on as it is, if it looks like one and is short enough to. */
export function isTracestate(value: string): boolean {
  return value.length <= 512 && /^[\x20-\x7E\t]+$/.test(value);
}

/**
 * A new trace, sampled: most tracers decide as their parent did, and one that is not sampled would switch the tracing
 * of every backend off.
 */
export function newTraceparent(): string {
  return `00-${randomHex(16)}-${randomHex(8)}-01`;
}
