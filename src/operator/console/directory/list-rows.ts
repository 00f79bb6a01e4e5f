import type { Html } from '../../../http/html.ts';
import type { ConsoleRequest } from '../console-page.ts';
import { foundList, type ListedRow } from '../kit/row-list.ts';
import type { DirectoryView } from './directory.ts';
import { type Order, pageOf } from './find.ts';
import type { Rows } from './rows.ts';

/** Rows of a page. */
const PAGE = 50;

interface RowsShown<T> {
  /** The path of the list. */
  readonly path: string;
  readonly noun: string;
  readonly all: (rows: Rows) => Iterable<T>;
  readonly keep: (row: T) => boolean;
  /** By the value of `sort` in the query; the first is the usual one. */
  readonly orders: Readonly<Record<string, Order<T>>>;
  readonly item: (row: T) => ListedRow;
  /** Whether nothing is shown when no row matches. */
  readonly isSilent?: boolean;
}

/** The page of a list that the query asks for; undefined while the store is being read. */
export async function listRows<T extends { readonly id: string }>(
  view: DirectoryView,
  query: ConsoleRequest['query'],
  { path, noun, all, keep, orders, item, isSilent = false }: RowsShown<T>,
): Promise<Html | undefined> {
  if (view.state !== 'ready') return undefined;
  const { sort = '', place: cursor } = query;
  const order = (Object.hasOwn(orders, sort) ? orders[sort] : Object.values(orders)[0]) as Order<T>;
  const found = await pageOf(all(view.rows), { keep, order, cursor, limit: PAGE });
  if (found.total === 0 && isSilent) return undefined;
  return foundList(found, item, { noun, path, query });
}
