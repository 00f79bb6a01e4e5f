import { AccountError } from '../errors.ts';
import { refuseWindow } from '../remote/windowed.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { Scope } from './evaluate.ts';
import { evaluated } from './evaluated.ts';
import { readLinkedPages } from './linked-pages.ts';
import type { FieldMapping, PageMapping } from './mapping.ts';
import { readNumberedPages } from './numbered-pages.ts';
import type { Operation } from './operation.ts';
import { type Page, type ReadPage, unusable, type Window } from './window.ts';

/** Number of items for an explicit null. If `first` is omitted, the contract's default applies. */
const DEFAULT_NODES = 20;

/** Resolves a field with @connection. @throws {AccountError} */
export async function resolveConnection(
  field: FieldMapping,
  pages: PageMapping,
  own: { readonly args: Readonly<Record<string, unknown>>; readonly this: unknown },
  operation: Operation,
) {
  const { connector } = field;
  const window = readWindow(own.args, operation.largestWindow, pages.style === 'CURSOR');
  const read: ReadPage = async (page) => {
    const scope = operation.scope({ ...own, page });
    return pageOf(pages, await operation.ask(connector, scope), scope, connector.source);
  };
  const found =
    pages.style === 'CURSOR'
      ? await readLinkedPages(window, pages.pageSize, read, connector.source)
      : await readNumberedPages(window, pages, read, connector.source);
  const scope = operation.scope(own);
  const { rows } = found;
  const nodes = evaluated(() => rows.map(({ row }) => connector.select(row, scope)));
  const cursorOf = (index: number) => {
    const row = rows.at(index);
    return row === undefined ? null : encodeCursor(row.at);
  };
  return {
    nodes,
    // graphql-js calls functions only for requested fields, and most clients never request the cursor of every item.
    edges: () => nodes.map((node, index) => ({ cursor: cursorOf(index), node })),
    pageInfo: () => ({
      hasNextPage: found.hasNextPage,
      hasPreviousPage: found.hasPreviousPage,
      startCursor: cursorOf(0),
      endCursor: cursorOf(-1),
    }),
    totalCount: found.total,
  };
}

const NO_CURSOR =
  'The argument after is not a cursor of this connection: send pageInfo.endCursor of the previous page, or null for the first page.';

function readWindow(args: Readonly<Record<string, unknown>>, most: number, linked: boolean): Window {
  const first = (args.first ?? Math.min(DEFAULT_NODES, most)) as number;
  refuseWindow({ first }, most);
  if (args.after == null) return { first, after: undefined };
  const after = decodeCursor(args.after as string);
  if (after === undefined || (after.page !== undefined && !linked)) {
    throw new AccountError('BAD_USER_INPUT', { message: NO_CURSOR });
  }
  return { first, after };
}

function pageOf({ nodes, next, total, pageSize }: PageMapping, answer: unknown, scope: Scope, source: string): Page {
  if (answer === undefined) return { items: [], total: null, next: null };
  return evaluated(() => {
    const items = nodes(answer, scope);
    const count = total?.(answer, scope) ?? null;
    if (!Array.isArray(items) || items.length > pageSize || !(count === null || isCount(count))) {
      throw unusable(source, 'a page is not a list of pageSize items, or its total is not a number');
    }
    return { items, total: count, next: next === undefined ? undefined : next(answer, scope) };
  });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
