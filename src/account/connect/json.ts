const LONG_NUMBER = /\d{16}/;

/**
 * Parses an upstream's JSON. Integers that a double cannot represent (64-bit identifiers) become strings, so that an ID
 * never silently turns into another one.
 *
 * @throws {SyntaxError} when the text is not JSON
 */
export function parseJson(text: string): unknown {
  // A reviver makes parsing several times slower, and most responses have no such number.
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const unsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return unsafe && /^-?\d+$/.test(context?.source ?? '') ? context?.source : value;
}
