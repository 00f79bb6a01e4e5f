import { ANSWER_BOUNDS, endOfString, jsonExcess } from '../../http/bounded-json.ts';

/** Shorter integers are always exact. */
const LONG = 16;

/**
 * Parses an upstream's JSON. Integers that a double cannot represent (64-bit identifiers) become strings, so that an ID
 * never silently turns into another one.
 *
 * @throws {SyntaxError} when the text is not JSON
 * @throws {JsonTooLarge} when it exceeds ANSWER_BOUNDS
 */
export function parseJson(text: string): unknown {
  const excess = jsonExcess(text, ANSWER_BOUNDS);
  if (excess !== undefined) throw excess;
  return JSON.parse(hasLongNumber(text) ? withQuotedLongNumbers(text) : text);
}

/**
 * Whether the text has 16 digits in a row. Such a run covers a multiple of 16, so one character in 16 is looked at; a
 * regular expression would take as long as the parser.
 */
function hasLongNumber(text: string): boolean {
  for (let at = LONG - 1; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [from, to] = [at, at];
    while (to - from < LONG && isDigit(text.charCodeAt(from - 1))) from -= 1;
    while (to - from < LONG && isDigit(text.charCodeAt(to + 1))) to += 1;
    if (to - from >= LONG - 1) return true;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/**
 * Quotes such integers in one pass over the UTF-16 units of the text. A piece of text for each would be garbage of several
 * times its size, which blocks the event loop for longer than the parser does. A reviver would be slower still.
 */
function withQuotedLongNumbers(text: string): string {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, 'utf16le');
  // Each has 16 digits at least, and gets two quotes.
  const quoted = new Uint16Array(text.length + Math.ceil(text.length / 8));
  let length = 0;
  for (let at = 0; at < units.length; ) {
    const code = units[at] as number;
    const end = code === QUOTE ? endOfString(text, at) + 1 : isNumeric(code) ? endOfNumber(units, at) : at + 1;
    const isLong = code !== QUOTE && isLongInteger(text, units, at, end);
    if (isLong) quoted[length++] = QUOTE;
    while (at < end && at < units.length) quoted[length++] = units[at++] as number;
    if (isLong) quoted[length++] = QUOTE;
  }
  return Buffer.from(quoted.buffer, 0, 2 * length).toString('utf16le');
}

function endOfNumber(units: Uint16Array, from: number): number {
  let end = from + 1;
  while (isNumeric(units[end] ?? 0)) end += 1;
  return end;
}

function isLongInteger(text: string, units: Uint16Array, from: number, end: number): boolean {
  const first = units[from] === MINUS ? from + 1 : from;
  if (end - first < LONG || units[first] === ZERO) return false;
  for (let at = first; at < end; at += 1) if (!isDigit(units[at] as number)) return false;
  return end - first > LONG || !Number.isSafeInteger(Number(text.slice(from, end)));
}

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;

/** Whether a character can be part of a number: digits, `+`, `-`, `.` and `e`. */
function isNumeric(code: number): boolean {
  return isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65;
}
