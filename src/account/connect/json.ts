import { ANSWER_BOUNDS, endOfString, jsonExcess } from '../../http/bounded-json.ts';

/** Shorter integers are always exact. */
const LONG = 16;
const WHOLE = /^-?[1-9]\d*$/;

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

/** Quotes such integers in one pass over the text. A reviver, called for every value, would be several times slower. */
function withQuotedLongNumbers(text: string): string {
  const parts: string[] = [];
  let kept = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (isNumeric(code)) {
      const start = at;
      while (isNumeric(text.charCodeAt(at + 1))) at += 1;
      const number = at - start < 15 ? '' : text.slice(start, at + 1);
      if (!WHOLE.test(number) || Number.isSafeInteger(Number(number))) continue;
      parts.push(text.slice(kept, start), `"${number}"`);
      kept = at + 1;
    }
  }
  return parts.join('') + text.slice(kept);
}

const QUOTE = 0x22;

/** Whether a character can be part of a number: digits, `+`, `-`, `.` and `e`. */
function isNumeric(code: number): boolean {
  return isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65;
}
