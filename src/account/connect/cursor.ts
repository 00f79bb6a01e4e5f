/** Far beyond any member's list, and far below where page arithmetic loses digits. */
const LAST_INDEX = 9_999_999;
const SHAPE = /^\{"i":(0|[1-9]\d{0,6})\}$/;

/** An opaque cursor for the item at an index from 0. It is the absolute place, so `first` may change on the way. */
export function encodeCursor(index: number): string {
  return Buffer.from(`{"i":${index}}`).toString('base64url');
}

/** In: a client's cursor. Out: the index it names, or undefined when it is not, byte for byte, one of ours. */
export function decodeCursor(cursor: string): number | undefined {
  if (cursor.length > 32) return undefined;
  const index = SHAPE.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1];
  if (index === undefined || Number(index) > LAST_INDEX || encodeCursor(Number(index)) !== cursor) return undefined;
  return Number(index);
}
