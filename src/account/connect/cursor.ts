import { readCursor, writeCursor } from '../../http/cursor.ts';

/** Far larger than any member's list, and far smaller than where page arithmetic loses precision. */
const LAST_INDEX = 9_999_999;
const LONGEST = 1024;

/**
 * A position in a connection: the index of an item from 0. With an upstream that pages by cursor, the index within the
 * page that the cursor begins.
 */
export interface Position {
  readonly index: number;
  /** The upstream's cursor of the page; undefined for the first page and for numbered pages. */
  readonly page: string | undefined;
}

/** Encodes a position as an opaque cursor. */
export function encodeCursor({ index, page }: Position): string {
  return writeCursor({ i: index, c: page });
}

/** Decodes a client's cursor; undefined unless it is exactly a cursor that `encodeCursor` returns. */
export function decodeCursor(cursor: string): Position | undefined {
  const { i: index, c: page } = Object(readCursor(cursor, LONGEST));
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > LAST_INDEX) return undefined;
  if (page !== undefined && typeof page !== 'string') return undefined;
  return encodeCursor({ index, page }) === cursor ? { index, page } : undefined;
}
