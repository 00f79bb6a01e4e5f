import { invalidRequest } from '../../../errors.ts';
import { readCursor, writeCursor } from '../../../http/cursor.ts';
import { Turns } from '../../../http/turns.ts';
import type { Sort } from '../kit/table.ts';

/** How rows are sorted; rows with the same key by their ids. */
export type Order<T> = Omit<Sort<T>, 'name'>;

export interface RowsWanted<T> {
  readonly keep: (row: T) => boolean;
  readonly order: Order<T>;
  /** The `previous` or `next` of another page. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** Characters: it contains the sorted text of a row. */
const LONGEST_CURSOR = 8192;
/** Rows between two looks at the time. */
const STRIDE = 500;
/** Rows after which those that are kept are sorted: a few pages. */
const SORTED_AT = 500;

/** Looks at every row, and lets other work run in between. */
export async function eachInSlices<T>(all: Iterable<T>, look: (row: T) => void): Promise<void> {
  const turns = new Turns();
  let seen = 0;
  for (const row of all) {
    seen += 1;
    if (seen % STRIDE === 0 && turns.isOver) await turns.next();
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
  const inOrder = (a: Position, b: Position) => sign * compare(a, b);
  const best: Placed<T>[] = [];
  let last: Placed<T> | undefined;
  let total = 0;
  let behind = 0;
  await eachInSlices(all, (row) => {
    if (!keep(row)) return;
    total += 1;
    const placed = { key: order.key(row), id: row.id, row };
    if (place !== undefined && inOrder(placed, place) <= 0) behind += 1;
    else if (last === undefined || inOrder(placed, last) < 0) best.push(placed);
    // Sorted now and then, so that rows behind the page are dropped at once.
    if (best.length < SORTED_AT) return;
    best.sort(inOrder).length = limit + 1;
    last = best[limit];
  });
  best.sort(inOrder);
  const more = best.length > limit;
  const shown = best.slice(0, limit);
  const backwards = place?.side === 'before';
  if (backwards) shown.reverse();
  const [first, end] = [shown[0], shown.at(-1)];
  return {
    rows: shown.map(({ row }) => row),
    total,
    previous: (backwards ? more : behind > 0) && first !== undefined ? cursorOf('before', first) : undefined,
    next: (backwards ? behind > 0 : more) && end !== undefined ? cursorOf('after', end) : undefined,
  };
}

interface Position {
  readonly key: string | number;
  readonly id: string;
}

interface Placed<T> extends Position {
  readonly row: T;
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
