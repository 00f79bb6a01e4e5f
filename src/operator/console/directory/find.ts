import { setImmediate as turn } from 'node:timers/promises';
import { invalidRequest } from '../../../errors.ts';
import { readCursor, writeCursor } from '../../../http/cursor.ts';

/** How rows are sorted; rows with the same key by their ids. */
export interface Order<T> {
  readonly key: (row: T) => string | number;
  readonly descending?: boolean;
}

export interface RowsWanted<T> {
  readonly keep: (row: T) => boolean;
  readonly order: Order<T>;
  /** The `previous` or `next` of another page. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** Milliseconds after which other work runs. */
const LONGEST_SLICE = 4;
/** Characters: it contains the sorted text of a row. */
const LONGEST_CURSOR = 8192;
/** Rows between two looks at the time. */
const STRIDE = 500;

/** Looks at every row, and lets other work run in between. */
export async function eachInSlices<T>(all: Iterable<T>, look: (row: T) => void): Promise<void> {
  let seen = 0;
  let until = performance.now() + LONGEST_SLICE;
  for (const row of all) {
    seen += 1;
    if (seen % STRIDE === 0 && performance.now() > until) {
      await turn();
      until = performance.now() + LONGEST_SLICE;
    }
    look(row);
  }
}

/**
 * One page of the matching rows, after one pass over all rows, out of `total` that match; `previous` and `next` are the
 * cursors of the pages before and after. A page begins after the last row of the page before, even
 * if that row is gone, so that rows that come and go move nothing. Throws GatewayError `invalid_request`.
 */
export async function pageOf<T extends { readonly id: string }>(
  all: Iterable<T>,
  { keep, order, cursor, limit }: RowsWanted<T>,
) {
  const place = cursor === undefined ? undefined : placeOf(cursor);
  const sign = (order.descending === true ? -1 : 1) * (place?.side === 'before' ? -1 : 1);
  const best: Placed<T>[] = [];
  let total = 0;
  let behind = 0;
  await eachInSlices(all, (row) => {
    if (!keep(row)) return;
    total += 1;
    const placed = { key: order.key(row), id: row.id, row };
    if (place !== undefined && sign * compare(placed, place) <= 0) behind += 1;
    else insert(best, placed, sign, limit + 1);
  });
  const more = best.length > limit;
  const shown = best.slice(0, limit);
  const backwards = place?.side === 'before';
  if (backwards) shown.reverse();
  const [first, last] = [shown[0], shown.at(-1)];
  return {
    rows: shown.map(({ row }) => row),
    total,
    previous: (backwards ? more : behind > 0) && first !== undefined ? cursorOf('before', first) : undefined,
    next: (backwards ? behind > 0 : more) && last !== undefined ? cursorOf('after', last) : undefined,
  };
}

interface Position {
  readonly key: string | number;
  readonly id: string;
}

interface Placed<T> extends Position {
  readonly row: T;
}

/** Keeps the `most` first rows in their order. */
function insert<T>(best: Placed<T>[], placed: Placed<T>, sign: number, most: number): void {
  const last = best[most - 1];
  if (last !== undefined && sign * compare(placed, last) >= 0) return;
  let [low, high] = [0, best.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sign * compare(placed, best[middle] as Placed<T>) < 0) high = middle;
    else low = middle + 1;
  }
  best.splice(low, 0, placed);
  if (best.length > most) best.pop();
}

function compare(a: Position, b: Position): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

type Side = 'before' | 'after';

function cursorOf(side: Side, { key, id }: Position): string {
  return writeCursor([side, key, id]);
}

function placeOf(cursor: string): Position & { readonly side: Side } {
  const position = readCursor(cursor, LONGEST_CURSOR);
  const [side, key, id]: readonly unknown[] = Array.isArray(position) ? position : [];
  const isKey = typeof key === 'string' || typeof key === 'number';
  if ((side === 'before' || side === 'after') && isKey && typeof id === 'string') return { side, key, id };
  throw invalidRequest('The place in the list is not one that this page has linked to.');
}

/**
 * How well a text (see `searchText`) matches what was typed, folded: 0 is a whole field, 1 the beginning of one, 2 the
 * beginning of a word, 3 any part. Undefined: not at all.
 */
export function rankOf(text: string, typed: string): 0 | 1 | 2 | 3 | undefined {
  if (!text.includes(typed)) return undefined;
  if (text.includes(`\n${typed}\n`)) return 0;
  if (text.includes(`\n${typed}`)) return 1;
  return text.includes(` ${typed}`) ? 2 : 3;
}
