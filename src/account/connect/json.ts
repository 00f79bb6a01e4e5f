import { ANSWER_BOUNDS, checkJsonBounds } from '../../http/bounded-json.ts';

const LONG_NUMBER = /\d{16}/;
const WHOLE = /^-?[1-9]\d*$/;

/**
 * Parses an upstream's JSON. A whole number that a double cannot hold (64-bit identifiers) becomes a string of its
 * digits, so that an id is never silently another id. Throws SyntaxError, and JsonTooLarge beyond ANSWER_BOUNDS.
 */
export function parseJson(text: string): unknown {
  checkJsonBounds(text, ANSWER_BOUNDS);
  return JSON.parse(LONG_NUMBER.test(text) ? withQuotedLongNumbers(text) : text);
}

/** In one pass over the text: a reviver, which sees every value again, costs several times the parse. */
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
const BACKSLASH = 0x5c;

/** The index of the closing quote, from that of the opening one. */
function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** What a number is made of: digits, `+ - .`, and an `e`. */
function isNumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65;
}
