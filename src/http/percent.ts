/**
 * Decodes every valid escape, as PHP does, including IIS' `%u005F`; the rest is kept. Each byte becomes one character.
 */
export function decodedOnce(text: string): string {
  if (!text.includes('%')) return text;
  return text.replace(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, wide?: string, byte?: string) =>
    String.fromCharCode(Number.parseInt(wide ?? byte ?? '', 16)),
  );
}

/** What servers in a row could read: the text decoded once, twice and three times. */
export function decodings(text: string): readonly string[] {
  const levels: string[] = [];
  for (let level = text; levels.length < 3 && level.includes('%'); ) {
    level = decodedOnce(level);
    levels.push(level);
  }
  return levels;
}

/** Decodes UTF-8; undefined for a malformed escape or other bytes. */
export function decodedComponent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const ESCAPE = /%([0-9A-Fa-f]{2})/g;
const UNRESERVED = /[A-Za-z0-9\-._~]/;
const NOT_PCHAR = /["<>[\]^`{|}]/g;

/**
 * Decodes unreserved characters, encodes those that a path cannot contain, and writes escapes in upper case (RFC 3986
 * section 6.2.2).
 */
export function normalisedEscapes(path: string): string {
  return path
    .replace(ESCAPE, (triplet, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16));
      return UNRESERVED.test(character) ? character : triplet.toUpperCase();
    })
    .replace(NOT_PCHAR, escaped);
}

/** Like encodeURIComponent, and also encodes !'()*, which RFC 3986 section 2.2 reserves. */
export function encodedComponent(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, escaped);
}

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
