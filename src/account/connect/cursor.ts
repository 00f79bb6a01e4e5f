/** Far beyond any member's list, and far below where page arithmetic loses digits. */
const LAST_INDEX = 9_999_999;
const SHAPE = /^\{"i":(0|[1-9]\d{0,6})(?:,"c":("(?:[^"\\]|\\.)*"))?\}$/;
const LONGEST = 1024;

/**
 * A place in a connection: the index of an item from 0, or, where only the upstream's own cursors tell one page from
 * another, its index in the page that such a cursor begins.
 */
export interface Position {
  readonly index: number;
  /** The upstream's cursor of the page; undefined for the first page, and where pages have numbers. */
  readonly page: string | undefined;
}

/** An opaque cursor for a place. */
export function encodeCursor({ index, page }: Position): string {
  const text = page === undefined ? `{"i":${index}}` : `{"i":${index},"c":${JSON.stringify(page)}}`;
  return Buffer.from(text).toString('base64url');
}

/** In: a client's cursor. Out: the place it names, or undefined when it is not, byte for byte, one of ours. */
export function decodeCursor(cursor: string): Position | undefined {
  if (cursor.length > LONGEST) return undefined;
  const [, digits, quoted] = SHAPE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const index = Number(digits);
  if (digits === undefined || index > LAST_INDEX) return undefined;
  const page = quoted === undefined ? undefined : textOf(quoted);
  if (quoted !== undefined && page === undefined) return undefined;
  return encodeCursor({ index, page }) === cursor ? { index, page } : undefined;
}

function textOf(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}
