import type { Position } from './cursor.ts';
import type { PageMapping } from './mapping.ts';
import {
  type PageWindow,
  type ReadPage,
  type UpstreamPage,
  unusable,
  type WindowRow,
  type WindowRows,
} from './window.ts';

/** Empty pages can have a successor. More pages than this for one window mean that the upstream's cursors loop. */
const MOST_LINKED_PAGES = 20;

/** A page that has been read, and its part of a connection. */
interface ReadSoFar {
  readonly page: UpstreamPage;
  /** The index of the first item that can be in the window. */
  readonly from: number;
  readonly positionOf: (index: number) => Position;
  /** Whether there is a page after this one; undefined when it must be requested to find out. */
  readonly more: boolean | undefined;
}

/**
 * Reads a window. Only the pages that cover it are requested.
 *
 * @throws {AccountError} when the upstream fails or its pages cannot be used
 */
export async function readWindow(
  window: PageWindow,
  pages: PageMapping,
  read: ReadPage,
  source: string,
): Promise<WindowRows> {
  const { first, after } = window;
  const rows: WindowRow[] = [];
  let total: number | null = null;
  const rowsUntil = (hasNextPage: boolean): WindowRows => ({
    rows,
    hasNextPage,
    hasPreviousPage: after !== undefined,
    total,
  });
  const all = pages.style === 'CURSOR' ? linkedPages(after, pages, read) : numberedPages(after, pages, read, source);
  for await (const { page, from, positionOf, more } of all) {
    total = page.total ?? total;
    for (const [index, row] of page.items.entries()) {
      if (index < from || page.kept?.[index] === false) continue;
      if (rows.length === first) return rowsUntil(true);
      rows.push({ row, at: positionOf(index) });
    }
    // Once the window is full, it only matters whether anything follows. A filter may leave all of it out.
    if (more === false || (more === true && rows.length === first && page.kept === undefined)) return rowsUntil(more);
  }
  if (rows.length === first) return rowsUntil(true);
  throw unusable(source, `${MOST_LINKED_PAGES} pages do not fill one window`);
}

/**
 * Pages that each return the cursor of the next one. A position is the cursor of its page and the index in it, so
 * `first` can differ between requests.
 */
async function* linkedPages(
  after: Position | undefined,
  { pageSize }: PageMapping,
  read: ReadPage,
): AsyncGenerator<ReadSoFar> {
  let cursor = after?.page;
  let from = after === undefined ? 0 : after.index + 1;
  for (let pages = 0; pages < MOST_LINKED_PAGES; pages += 1) {
    const at = cursor;
    const page = await read({ cursor: at ?? null, size: pageSize });
    cursor = cursorIn(page.next);
    yield { page, from, positionOf: (index) => ({ index, page: at }), more: cursor !== undefined };
    from = 0;
  }
}

/** A cursor can be a number. null, false, 0 and '' mean that nothing follows. */
function cursorIn(next: unknown): string | undefined {
  if (typeof next === 'string' && next !== '') return next;
  return typeof next === 'number' && next !== 0 ? String(next) : undefined;
}

/**
 * Pages with a number or an offset, or a single page with the whole list. The page size is fixed and a position is an
 * absolute one, so the pages before it are not requested.
 */
async function* numberedPages(
  after: Position | undefined,
  { style, pageSize }: PageMapping,
  read: ReadPage,
  source: string,
): AsyncGenerator<ReadSoFar> {
  const offset = after === undefined ? 0 : after.index + 1;
  if (style === 'ALL') {
    const page = await read({});
    const total = page.total ?? page.items.length;
    yield { page: { ...page, total }, from: offset, positionOf: (index) => ({ index, page: undefined }), more: false };
    return;
  }
  for (let number = Math.floor(offset / pageSize); ; number += 1) {
    const start = number * pageSize;
    const page = await read({ number: number + 1, offset: start, size: pageSize });
    const positionOf = (index: number) => ({ index: start + index, page: undefined });
    yield { page, from: offset - start, positionOf, more: follows(page, start, pageSize, source) };
  }
}

/** Whether there is a page after this one; undefined when it must be requested to find out. */
function follows(
  { items, total, next }: UpstreamPage,
  start: number,
  pageSize: number,
  source: string,
): boolean | undefined {
  const declared = next === undefined ? undefined : Boolean(next);
  const more =
    declared ?? (total !== null ? start + items.length < total : items.length < pageSize ? false : undefined);
  // A short page would shift every position after it, and clients would silently miss items.
  if (more === true && items.length < pageSize)
    throw unusable(source, `a page has ${items.length} items, not ${pageSize}, and is not the last`);
  return more;
}
