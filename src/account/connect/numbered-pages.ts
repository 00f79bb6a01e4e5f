import type { PageMapping } from './mapping.ts';
import {
  isKept,
  type PageWindow,
  type ReadPage,
  type UpstreamPage,
  unusable,
  type WindowRow,
  type WindowRows,
} from './window.ts';

/**
 * Reads a window from pages with a number or an offset, or from a single page with the whole list. Since the page size
 * is fixed and a cursor holds the absolute position, only the pages that cover the window are requested.
 *
 * @throws {AccountError} when the upstream fails or its pages cannot be used
 */
export async function readNumberedPages(
  { first, after }: PageWindow,
  { style, pageSize }: PageMapping,
  read: ReadPage,
  source: string,
): Promise<WindowRows> {
  const offset = after === undefined ? 0 : after.index + 1;
  const rows: WindowRow[] = [];
  let total: number | null = null;
  let hasNextPage: boolean | undefined;
  const firstPage = style === 'ALL' ? 0 : Math.floor(offset / pageSize);
  for (let number = firstPage; hasNextPage === undefined; number += 1) {
    const start = number * pageSize;
    const page = await read(style === 'ALL' ? {} : { number: number + 1, offset: start, size: pageSize });
    const more = style === 'ALL' ? false : follows(page, start, pageSize, source);
    total = page.total ?? (style === 'ALL' ? page.items.length : total);
    for (let at = Math.max(0, offset - start); at < page.items.length; at += 1) {
      if (!isKept(page, at)) continue;
      if (rows.length === first) {
        hasNextPage = true;
        break;
      }
      rows.push({ row: page.items[at], at: { index: start + at, page: undefined } });
    }
    // A filter may leave out everything that follows, so only reading on tells.
    const known = more === false || (more && rows.length === first && page.kept === undefined);
    if (known) hasNextPage ??= more;
  }
  return { rows, hasNextPage, hasPreviousPage: offset > 0, total };
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
  if (more === true && items.length < pageSize) {
    throw unusable(source, `a page has ${items.length} items, not ${pageSize}, and is not the last`);
  }
  return more;
}
