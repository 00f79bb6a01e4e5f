import { isKept, type PageWindow, type ReadPage, unusable, type WindowRow, type WindowRows } from './window.ts';

/** Empty pages can have a successor. More pages than this for one window mean that the upstream's cursors loop. */
const MOST_PAGES = 20;

/**
 * Reads a window from pages that each return the cursor of the next one. A position is the cursor of its page and the
 * index in it, so `first` can differ between requests.
 *
 * @throws {AccountError} when the upstream fails or its pages cannot be used
 */
export async function readLinkedPages(
  { first, after }: PageWindow,
  size: number,
  read: ReadPage,
  source: string,
): Promise<WindowRows> {
  const rows: WindowRow[] = [];
  let cursor = after?.page;
  let index = after === undefined ? 0 : after.index + 1;
  let total: number | null = null;
  const window = (hasNextPage: boolean): WindowRows => ({
    rows,
    hasNextPage,
    hasPreviousPage: after !== undefined,
    total,
  });
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await read({ cursor: cursor ?? null, size });
    total = page.total ?? total;
    for (; index < page.items.length; index += 1) {
      if (!isKept(page, index)) continue;
      if (rows.length === first) return window(true);
      rows.push({ row: page.items[index], at: { index, page: cursor } });
    }
    const next = nextOf(page.next);
    // Once the window is full, it only matters whether anything follows. `next` says so, unless a filter may drop it all.
    if (next === undefined || (rows.length === first && page.kept === undefined)) return window(next !== undefined);
    cursor = next;
    index = 0;
  }
  if (rows.length === first) return window(true);
  throw unusable(source, `${MOST_PAGES} pages do not fill one window`);
}

/** A cursor can be a number. null, false, 0 and '' mean that nothing follows. */
function nextOf(next: unknown): string | undefined {
  if (typeof next === 'string' && next !== '') return next;
  return typeof next === 'number' && next !== 0 ? String(next) : undefined;
}
