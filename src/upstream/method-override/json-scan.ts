import { type BodyScan, type OverrideCheck, unreadable } from './body-scan.ts';
import { jsonTokens } from './json-tokens.ts';
import { isOnlySeparators, isOverride, methodOf } from './names.ts';

/** Bytes of a member's name that are examined. `_method` written entirely in escapes has 42. */
const LONGEST_NAME = 1024;
const LONGEST_VALUE = 64;
/** Limits the memory for a body that consists of nothing but brackets. */
const DEEPEST = 10_000;

const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** A string of only ASCII and without escapes needs no decoding. */
const PLAIN = /^[ -[\]-~]*$/;

/**
 * Reads JSON chunk by chunk, one document or several in a row (NDJSON), and checks the member names of the outermost
 * objects, where Laravel and others look for `_method`. It accepts more than JSON, but nothing in which a lenient
 * parser would find a different name.
 */
export function jsonScan(check: OverrideCheck): BodyScan {
  /** The brackets that are open, from the outermost. */
  const open: number[] = [];
  /** The last string, if it can be a member's name: the next byte says whether it is one. */
  let perhapsName: string | undefined;
  /** The member whose value comes next overrides the method. */
  let overrides = false;

  const tokens = jsonTokens({
    begins() {
      perhapsName = undefined;
      return overrides || (open.length === 1 && open[0] === OPEN_BRACE);
    },
    grows(text) {
      // No method is that long: there is no need to wait for its end.
      if (overrides && text.length > LONGEST_VALUE) check(undefined);
      return text.slice(0, LONGEST_NAME);
    },
    string(text) {
      if (overrides) check(methodOf(stringOf(text ?? '')));
      else perhapsName = text;
      overrides = false;
    },
    other(byte) {
      const name = perhapsName;
      perhapsName = undefined;
      if (name !== undefined && byte === COLON) {
        overrides = overridesMethod(name, check);
        return;
      }
      // The value is not a string.
      if (overrides) check(undefined);
      overrides = false;
      nest(open, byte);
    },
  });

  return {
    push: tokens.push,
    end() {
      if (tokens.inString() || open.length > 0) throw unreadable('it is incomplete');
    },
    undecided: () => overrides || perhapsName !== undefined,
  };
}

/** Whether the member of this name overrides the method. Reports a name that is too long to tell. */
function overridesMethod(name: string, check: OverrideCheck): boolean {
  if (name.length >= LONGEST_NAME) {
    if (isOverride(name) || isOnlySeparators(name)) check(undefined);
    return false;
  }
  const read = stringOf(name);
  // Deep copies take it for the prototype, whose members are then read like the object's own.
  if (read === '__proto__') throw unreadable('it has a member named __proto__');
  return isOverride(read);
}

/** Opens or closes a bracket; leaves other bytes. */
function nest(open: number[], byte: number): void {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
    if (open.push(byte) > DEEPEST) throw unreadable('it is nested too deep');
  } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
    if (open.pop() !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) throw unreadable('it is not JSON');
  }
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
