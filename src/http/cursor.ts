import { boundedJson, RECORD_BOUNDS } from './bounded-json.ts';

/** An opaque cursor: a position as JSON in base64url. It is not a secret. */
export function writeCursor(position: unknown): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/**
 * The position in a cursor from outside, still to be checked; undefined for text that `writeCursor` cannot have written.
 * @param longest - characters of a cursor
 */
export function readCursor(cursor: string, longest: number): unknown {
  if (cursor.length > longest) return undefined;
  return boundedJson(Buffer.from(cursor, 'base64url').toString(), RECORD_BOUNDS);
}
