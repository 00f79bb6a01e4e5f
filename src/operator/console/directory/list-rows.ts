import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConsoleRequest } from '../console-page.ts';
import { type Column, listTable, orderOf } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { withQuery } from '../paths.ts';
import type { DirectoryView } from './directory.ts';
import { type Order, pageOf } from './find.ts';
import type { Rows } from './rows.ts';

/** Rows of a page. */
const PAGE = 50;

export interface RowsShown<T> {
  /** The path of the list. */
  readonly path: string;
  readonly noun: string;
  readonly keep: (row: T) => boolean;
  /** The row as the store has it now, for rows that are not all there is. */
  readonly now?: (row: T) => Promise<T | undefined>;
  readonly columns: readonly Column<T>[];
  /** The order unless the query names one: the name of a column's, or one that no column has. */
  readonly usual: string | Order<T>;
  /** Whether nothing is shown when no row matches. */
  readonly isSilent?: boolean;
}

/** The page of a list that the query asks for; undefined while the store is being read. */
export async function listRows<T extends { readonly id: string }>(
  view: DirectoryView,
  query: ConsoleRequest['query'],
  shown: RowsShown<T> & { readonly all: (rows: Rows) => Iterable<T> },
): Promise<Html | undefined> {
  if (view.state !== 'ready') return undefined;
  const { rows, searched = 1 } = view;
  return shownRows(shown.all(rows), query, shown, { isPartial: rows.partial, soFar: searched < 1 && ' so far' });
}

/** The page of some rows that the query asks for. */
export async function shownRows<T extends { readonly id: string }>(
  all: Iterable<T>,
  query: ConsoleRequest['query'],
  { path, noun, keep, now, columns, usual, isSilent = false }: RowsShown<T>,
  { isPartial = false, soFar = false as string | false } = {},
): Promise<Html | undefined> {
  const { sort = '', place: cursor } = query;
  const asked = orderOf(columns, sort);
  const order = asked ?? (typeof usual === 'string' ? orderOf(columns, usual) : usual);
  if (order === undefined) throw new Error(`${path} has no column for its usual order`);
  const found = await pageOf(all, { keep, order, cursor, limit: PAGE });
  if (found.total === 0) return isSilent ? undefined : html`<p>No ${noun}s match${soFar}.</p>`;
  const current = isPartial && now ? await Promise.all(found.rows.map(now)) : found.rows;
  const shown = asked === undefined ? usual : sort;
  const list = listTable({
    label: `${noun}s`,
    columns,
    rows: current.filter((row) => row !== undefined),
    sorting: { path, query, sort: typeof shown === 'string' ? shown : '' },
  });
  return html`<p class="muted" role="status">${counted(found.total, noun)}${found.total > found.rows.length && `, of which ${found.rows.length} are shown here`}</p>
<div class="card">${list}</div>
${pager(found, (place) => withQuery(path, { ...query, place }))}`;
}

/** Links to the pages around this one. */
function pager({ previous, next }: Awaited<ReturnType<typeof pageOf>>, to: (place: string) => string) {
  if (previous === undefined && next === undefined) return undefined;
  return html`<nav class="pager" aria-label="Pages">${previous !== undefined && html`<a href="${to(previous)}" rel="prev">Previous page</a> `}${next !== undefined && html`<a href="${to(next)}" rel="next">Next page</a>`}</nav>`;
}

/** Says what the list is made from: how much is read, how old it is, and whether it is complete. */
export function freshness(view: DirectoryView, times: Times): Html {
  if (view.state === 'reading')
    return html`<p class="notice" role="status">Reading the store: ${Math.floor(view.share * 100)}% done. Reload this page in a few seconds. Exact IDs are found already.</p>`;
  const { rows, readAt, searched } = view;
  if (searched !== undefined && searched < 1)
    return html`<p class="notice" role="status">${Math.floor(searched * 100)}% of the store has been searched. Reload this page in a few seconds to see what else is found.</p>`;
  if (searched !== undefined && rows.more)
    return html`<p class="notice">The store has more matches than these. Type a longer part, or an exact ID.</p>`;
  const part = html` The store has more than is listed here: these are ${counted(rows.members.size, 'member')} and ${counted(rows.apps.size, 'app')} of it. Type a part of a name, email address, host or ID to search all of it.`;
  return html`<p class="muted small">${searched === undefined ? 'Read from the store' : 'All of the store was searched'} ${times.ago(readAt)}.${rows.more && part}</p>`;
}
