import { unreadable } from './body-scan.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * The bytes that JSON (RFC 8259) has outside strings. UTF-16, comments, single quotes and bare names contain others.
 */
const OUTSIDE = new Set(Buffer.from('\t\n\r 0123456789+-.eEtrufalsn:,{}[]'));
const BLANK = new Set(Buffer.from('\t\n\r '));
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Learns what JSON consists of, in order. Texts are as sent: between the quotes, with escapes, one character per byte. */
interface JsonListener {
  /** A string begins. Returns whether its text is wanted. */
  begins(): boolean;
  /** The text so far, at the end of a chunk or of the string. Returns what of it is to be kept. */
  grows(text: string): string;
  /** A string has ended. Its text is undefined if it was not wanted. */
  string(text: string | undefined): void;
  /** A byte outside strings that is not white space: punctuation, or a part of a number or word. */
  other(byte: number): void;
}

/** Splits JSON, chunk by chunk, into strings and the bytes between them. It accepts more than JSON. */
export function jsonTokens({ begins, grows, string, other }: JsonListener): {
  push(chunk: Buffer): void;
  inString(): boolean;
} {
  let atStart = true;
  let inString = false;
  let escaped = false;
  let text: string | undefined;

  /** Reads on in a string, up to its closing quote or the end of the chunk. Returns where it has stopped. */
  const readString = (chunk: Buffer, from: number): number => {
    let at = from;
    for (; at < chunk.length && inString; at += 1) {
      const byte = chunk[at] as number;
      if (escaped) escaped = false;
      else if (byte === BACKSLASH) escaped = true;
      else if (byte === QUOTE) inString = false;
      else if (byte < 0x20) throw unreadable('it is not JSON');
    }
    if (text !== undefined) text = grows(text + chunk.toString('latin1', from, inString ? at : at - 1));
    if (!inString) string(text);
    return at;
  };

  const readOther = (byte: number): void => {
    if (byte === QUOTE) {
      inString = true;
      text = begins() ? '' : undefined;
    } else if (!OUTSIDE.has(byte)) throw unreadable('it is not JSON');
    else if (!BLANK.has(byte)) other(byte);
  };

  return {
    push(chunk) {
      // Some clients begin with a byte order mark.
      let at =
        atStart && chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
      if (chunk.length > 0) atStart = false;
      while (at < chunk.length) {
        if (inString) at = readString(chunk, at);
        else {
          readOther(chunk[at] as number);
          at += 1;
        }
      }
    },
    inString: () => inString,
  };
}
