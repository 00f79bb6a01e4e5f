import { unusableResponse } from '../failures.ts';

/** Field names and values together, as in undici: Node's own limit for a head. Also for a line that is not complete. */
const LARGEST_FIELDS = 16 * 1024;
/** The whole head: very many short fields are mostly separators. */
const LARGEST_HEAD = 4 * LARGEST_FIELDS;

const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;
const SPACE = 0x20;
const TAB = 0x09;
const ZERO = 0x30;

/** RFC 9110 section 5.6.2 tchar: 1. Other bytes that a value may contain (RFC 9110 section 5.5): 2. All others: 0. */
const KIND = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte))) return 1;
  return byte === TAB || (byte >= SPACE && byte <= 0x7e) || byte >= 0x80 ? 2 : 0;
});

export function isToken(byte: number): boolean {
  return KIND[byte] === 1;
}

/** Whether a byte may be part of a field value, or of a quoted string. */
export function isQuotable(byte: number): boolean {
  return KIND[byte] !== 0;
}

/** `HTTP/1.` */
const VERSION = [0x48, 0x54, 0x54, 0x50, 0x2f, 0x31, 0x2e];

/**
 * Parses the head of a response, or a trailer section, strictly (RFC 9112 sections 4 and 5): every line ends in CRLF, no
 * white space around a name, no folded lines, no control characters. Whatever two parsers might read differently is an
 * error, thrown as GatewayError `upstream_invalid`.
 */
export class ParsedHead {
  status = 0;
  /** The response says that it is HTTP/1.0. */
  isOld = false;
  /** Names and values alternate. */
  fields: string[] = [];
  /** Bytes of complete lines. */
  #read = 0;
  /** Start and end of each name and value. Emptying the list would make it grow again with each head. */
  readonly #places: number[] = [];
  #placed = 0;
  #size = 0;
  /** The fields of the head before: most of the next one are the same. */
  #before: readonly string[] = [];

  /** Prepares for the next head. */
  reset(): void {
    this.status = 0;
    this.isOld = false;
    this.fields = [];
    this.#read = 0;
    this.#placed = 0;
    this.#size = 0;
  }

  /**
   * Takes all bytes of the head that have arrived so far. Returns its length with the empty line, or 0 if it is not
   * complete. Complete lines are not read again when more bytes have arrived.
   */
  parse(bytes: Buffer, from: number, to: number): number {
    let at = from + this.#read;
    if (this.status === 0) {
      at = this.#statusLine(bytes, at, to);
      if (at === 0) return unfinished(from, from, to);
      this.#read = at - from;
    }
    return this.#fieldLines(bytes, from, at, to);
  }

  /** The same for the trailer section of a chunked body. */
  parseTrailers(bytes: Buffer, from: number, to: number): number {
    return this.#fieldLines(bytes, from, from + this.#read, to);
  }

  /** Returns where the next line begins, or 0 if this one is not complete. */
  #statusLine(bytes: Buffer, from: number, to: number): number {
    for (let n = 0; n < VERSION.length; n += 1) {
      if (from + n === to) return 0;
      if (bytes[from + n] !== VERSION[n]) throw unusableResponse('something that is not HTTP/1');
    }
    let at = from + VERSION.length;
    if (at + 5 > to) return 0;
    const minor = bytes[at] as number;
    if (minor !== ZERO && minor !== ZERO + 1) throw unusableResponse('another version of HTTP');
    const hundreds = (bytes[at + 2] as number) - ZERO;
    const tens = (bytes[at + 3] as number) - ZERO;
    const ones = (bytes[at + 4] as number) - ZERO;
    if (bytes[at + 1] !== SPACE || !(hundreds >= 1 && hundreds <= 9 && isDigit(tens) && isDigit(ones)))
      throw unusableResponse('an invalid status');
    at += 5;
    // The space may be missing if there is no reason.
    if (at < to && bytes[at] !== SPACE && bytes[at] !== CR) throw unusableResponse('an invalid status');
    while (at < to && KIND[bytes[at] as number] !== 0) at += 1;
    if (at + 1 >= to && (at === to || bytes[at] === CR)) return 0;
    if (bytes[at] !== CR || bytes[at + 1] !== LF) throw unusableResponse('an invalid status line');
    this.isOld = minor === ZERO;
    this.status = hundreds * 100 + tens * 10 + ones;
    return at + 2;
  }

  #fieldLines(bytes: Buffer, from: number, first: number, to: number): number {
    let line = first;
    for (;;) {
      if (line === to) break;
      if (bytes[line] === CR) {
        if (line + 1 === to) break;
        if (bytes[line + 1] !== LF) throw unusableResponse('an invalid header field');
        this.fields = this.#strings(bytes, from, line);
        return line + 2 - from;
      }
      const next = this.#fieldLine(bytes, from, line, to);
      if (next === 0) break;
      line = next;
      this.#read = line - from;
    }
    return unfinished(from, line, to);
  }

  /** Returns where the next line begins, or 0 if this one is not complete. */
  #fieldLine(bytes: Buffer, from: number, line: number, to: number): number {
    let at = line;
    while (at < to && KIND[bytes[at] as number] === 1) at += 1;
    if (at === to) return 0;
    if (bytes[at] !== COLON || at === line) throw unusableResponse('an invalid header field');
    const nameEnd = at;
    at += 1;
    while (at < to && (bytes[at] === SPACE || bytes[at] === TAB)) at += 1;
    const valueStart = at;
    while (at < to && KIND[bytes[at] as number] !== 0) at += 1;
    if (at + 1 >= to && (at === to || bytes[at] === CR)) return 0;
    if (bytes[at] !== CR || bytes[at + 1] !== LF) throw unusableResponse('an invalid header field');
    let valueEnd = at;
    while (valueEnd > valueStart && (bytes[valueEnd - 1] === SPACE || bytes[valueEnd - 1] === TAB)) valueEnd -= 1;
    // Valid (RFC 9112 section 5.1), but undici reads another length then, and does not recognize a transfer coding.
    if (valueEnd < at && isFraming(bytes, line, nameEnd)) throw unusableResponse('framing with white space behind it');
    this.#size += nameEnd - line + valueEnd - valueStart;
    if (this.#size >= LARGEST_FIELDS) throw unusableResponse('header fields that are too large');
    this.#place(line - from, nameEnd - from);
    this.#place(valueStart - from, valueEnd - from);
    return at + 2;
  }

  #place(start: number, end: number): void {
    this.#places[this.#placed] = start;
    this.#places[this.#placed + 1] = end;
    this.#placed += 2;
  }

  /** Strings of the head before, or parts of one string for the whole head. */
  #strings(bytes: Buffer, from: number, to: number): string[] {
    const places = this.#places;
    const fields: string[] = new Array(this.#placed / 2);
    let text: string | undefined;
    for (let at = 0; at < fields.length; at += 1) {
      const [start, end] = [places[2 * at] as number, places[2 * at + 1] as number];
      const before = this.#before[at];
      if (before !== undefined && isAt(bytes, from + start, from + end, before)) fields[at] = before;
      else {
        text ??= bytes.toString('latin1', from, to);
        fields[at] = text.slice(start, end);
      }
    }
    this.#before = fields;
    return fields;
  }
}

function isAt(bytes: Buffer, from: number, to: number, text: string): boolean {
  if (text.length !== to - from) return false;
  for (let at = 0; at < text.length; at += 1) if (bytes[from + at] !== text.charCodeAt(at)) return false;
  return true;
}

function isFraming(bytes: Buffer, from: number, to: number): boolean {
  return /^(content-length|transfer-encoding)$/i.test(bytes.toString('latin1', from, to));
}

function isDigit(value: number): boolean {
  return value >= 0 && value <= 9;
}

/** A line that is not complete is read again with each packet, so reading a long one would cost its square. */
function unfinished(from: number, line: number, to: number): 0 {
  if (to - from > LARGEST_HEAD || to - line > LARGEST_FIELDS)
    throw unusableResponse('header fields that are too large');
  return 0;
}
