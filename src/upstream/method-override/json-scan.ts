import { type BodyScan, type OverrideCheck, unreadable } from './body-scan.ts';
import { isOnlySeparators, isOverride, methodOf } from './names.ts';

/** Bytes of a member's name that are examined. `_method` written entirely in escapes has 42. */
const LONGEST_NAME = 1024;
const LONGEST_VALUE = 64;
/** Limits the memory for a body that consists of nothing but brackets. */
const DEEPEST = 10_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/**
 * The bytes that JSON (RFC 8259) has outside strings. UTF-16, comments, single quotes and bare names contain others.
 */
const OUTSIDE = new Set(Buffer.from('\t\n\r 0123456789+-.eEtrufalsn:,{}[]"'));
/** A string of only ASCII and without escapes needs no decoding. */
const PLAIN = /^[ -[\]-~]*$/;
const BLANK = new Set(Buffer.from('\t\n\r '));

/**
 * Reads JSON chunk by chunk, one document or several in a row (NDJSON), and checks the member names of the outermost
 * objects, where Laravel and others look for `_method`. It accepts more than JSON, but nothing in which a lenient
 * parser would find a different name.
 */
export function jsonScan(check: OverrideCheck): BodyScan {
  const open: number[] = [];
  let first = true;
  let inString = false;
  let escaped = false;
  /** The current or last string, if it can be a name or the value of an override. */
  let text: string | undefined;
  let afterName = false;
  let override = false;

  const judgeName = () => {
    const name = text ?? '';
    if (name.length >= LONGEST_NAME) {
      if (isOverride(name) || isOnlySeparators(name)) check(undefined);
      return;
    }
    const read = stringOf(name);
    // Deep copies take it for the prototype, whose members are then read like the object's own.
    if (read === '__proto__') throw unreadable('it has a member named __proto__');
    override = isOverride(read);
  };
  const endString = () => {
    inString = false;
    if (override) {
      check(methodOf(stringOf(text ?? '')));
      override = false;
      text = undefined;
    } else afterName = text !== undefined;
  };
  const outside = (byte: number) => {
    if (!OUTSIDE.has(byte)) throw unreadable('it is not JSON');
    if (BLANK.has(byte)) return;
    if (afterName) {
      afterName = false;
      if (byte === COLON) {
        judgeName();
        text = undefined;
        return;
      }
      text = undefined;
    }
    if (byte === QUOTE) {
      inString = true;
      text = override || (open.length === 1 && open[0] === OPEN_BRACE) ? '' : undefined;
      return;
    }
    if (override) check(undefined);
    override = false;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (open.push(byte) > DEEPEST) throw unreadable('it is nested too deep');
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (open.pop() !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) throw unreadable('it is not JSON');
    }
  };

  return {
    push(chunk) {
      let at = 0;
      // Some clients begin with a byte order mark.
      if (first && chunk.length > 0) {
        if (chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf) at = 3;
        first = false;
      }
      while (at < chunk.length) {
        if (!inString) {
          outside(chunk[at] as number);
          at += 1;
          continue;
        }
        const from = at;
        let ended = false;
        for (; at < chunk.length && !ended; at += 1) {
          const byte = chunk[at] as number;
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) ended = true;
          else if (byte < 0x20) throw unreadable('it is not JSON');
        }
        if (text !== undefined) {
          text = (text + chunk.toString('latin1', from, ended ? at - 1 : at)).slice(0, LONGEST_NAME);
          if (override && text.length > LONGEST_VALUE) check(undefined);
        }
        if (ended) endString();
      }
    },
    end() {
      if (inString || open.length > 0) throw unreadable('it is incomplete');
    },
    undecided: () => override || afterName,
  };
}

/** Decodes the text between two quotes, given as one character per byte. Throws if it is not a JSON string. */
function stringOf(bytes: string): string {
  if (PLAIN.test(bytes)) return bytes;
  try {
    return JSON.parse(`"${new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(bytes, 'latin1'))}"`) as string;
  } catch {
    throw unreadable('it is not JSON');
  }
}
