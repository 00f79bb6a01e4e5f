import { invalidRequest } from '../../errors.ts';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import type { Entry, Store } from '../../storage/store.ts';

export interface PageWanted {
  /** The `next` of the previous page; undefined for the first page. */
  readonly cursor: string | undefined;
  /** The most items on the page. */
  readonly limit: number;
}

/** A position: cursor in the store, and how many of the matches from there were already returned. */
interface Place {
  readonly from: string | undefined;
  readonly given: number;
}

/** Entries read per step, and milliseconds after which a page ends even if it is not full. */
const STEP = 500;
const LONGEST = 1000;
/** Characters. */
const LONGEST_CURSOR = 2048;

/**
 * One page of the entries of these kinds, converted by `read`, and the cursor of the next page, which may be empty.
 * Entries for which `read` returns undefined are skipped.
 */
export async function pageOf<T>(
  store: Store,
  kinds: readonly string[],
  { cursor, limit }: PageWanted,
  read: (entry: Entry) => T | undefined,
) {
  const until = performance.now() + LONGEST;
  let { from, given } = placeOf(cursor);
  const found: T[] = [];
  for (;;) {
    const { entries, next } = await store.scan(kinds, from, STEP);
    const fitting = entries.flatMap((entry) => read(entry) ?? []).slice(given);
    const room = limit - found.length;
    found.push(...fitting.slice(0, room));
    if (fitting.length > room) return { found, next: cursorOf({ from, given: given + room }) };
    if (next === undefined) return { found, next };
    [from, given] = [next, 0];
    if (found.length === limit || performance.now() > until) return { found, next: cursorOf({ from, given }) };
  }
}

function cursorOf({ from, given }: Place): string {
  return writeCursor([from ?? null, given]);
}

/** Throws GatewayError `invalid_request`. */
function placeOf(cursor: string | undefined): Place {
  if (cursor === undefined) return { from: undefined, given: 0 };
  const position = readCursor(cursor, LONGEST_CURSOR);
  const [from, given]: readonly unknown[] = Array.isArray(position) ? position : [];
  const isCount = typeof given === 'number' && Number.isInteger(given) && given >= 0 && given < STEP * 10;
  if (isCount && (from === null || typeof from === 'string')) return { from: from ?? undefined, given };
  throw invalidRequest('The cursor is not the "next" of an earlier page.');
}
