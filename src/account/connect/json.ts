import { ANSWER_BOUNDS, checkJsonBounds } from '../../http/bounded-json.ts';

const LONG_NUMBER = /\d{16}/;

/**
 * Parses an upstream's JSON. A whole number that a double cannot hold (64-bit identifiers) becomes a string of its
 * digits, so that an id is never silently another id. Throws SyntaxError, and JsonTooLarge beyond ANSWER_BOUNDS.
 */
export function parseJson(text: string): unknown {
  checkJsonBounds(text, ANSWER_BOUNDS);
  // The reviver costs several times the parse, and most answers have no such number.
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const unsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return unsafe && /^-?\d+$/.test(context?.source ?? '') ? context?.source : value;
}
