import { invalidRequest } from '../../errors.ts';
import { readCursor, writeCursor } from '../../http/cursor.ts';
import type { Entry, Store } from '../../storage/store.ts';

export interface PageWanted {
  /** The `next` of the previous page; undefined for the first page. */
  readonly cursor: string | undefined;
  /** The most items on the page. */
  readonly limit: number;
}

/** A position: index of the kind, cursor in the store, and how many of the matches from there were already returned. */
interface Place {
  readonly kind: number;
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
  let { kind, from, given } = placeOf(cursor, kinds.length);
  const found: T[] = [];
  while (kind < kinds.length) {
    const { entries, next } = await store.scan(kinds[kind], from, STEP);
    const fitting = entries.flatMap((entry) => read(entry) ?? []).slice(given);
    const room = limit - found.length;
    found.push(...fitting.slice(0, room));
    if (fitting.length > room) return { found, next: cursorOf({ kind, from, given: given + room }) };
    given = 0;
    from = next;
    if (next === undefined) kind += 1;
    if (found.length === limit || performance.now() > until) break;
  }
  return { found, next: kind < kinds.length ? cursorOf({ kind, from, given: 0 }) : undefined };
}

function cursorOf({ kind, from, given }: Place): string {
  return writeCursor([kind, from ?? null, given]);
}

/** Throws GatewayError `invalid_request`. */
function placeOf(cursor: string | undefined, kinds: number): Place {
  if (cursor === undefined) return { kind: 0, from: undefined, given: 0 };
  const position = readCursor(cursor, LONGEST_CURSOR);
  const [kind, from, given]: readonly unknown[] = Array.isArray(position) ? position : [];
  if (isIndex(kind, kinds) && isIndex(given, STEP * 10) && (from === null || typeof from === 'string'))
    return { kind, from: from ?? undefined, given };
  throw invalidRequest('The cursor is not the "next" of an earlier page.');
}

function isIndex(value: unknown, below: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < below;
}
