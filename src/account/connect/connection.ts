import { AccountError } from '../errors.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { evaluated } from './evaluated.ts';
import type { FieldMapping, PageMapping } from './mapping.ts';
import type { Operation } from './operation.ts';

/** What an explicit null means; left out, the contract's own default holds. */
const DEFAULT_NODES = 20;

type Arguments = Readonly<Record<string, unknown>>;

interface Page {
  readonly rows: readonly unknown[];
  readonly total: number | null;
  /** Whether there is a page after this one; undefined when only asking for it can tell. */
  readonly more: boolean | undefined;
}

/**
 * Resolves a field with @connection(style: PAGE). The upstream's page size is fixed and the cursor holds the absolute
 * place, so only the pages that cover the window are asked for. Throws AccountError.
 */
export async function resolveConnection(
  field: FieldMapping,
  pages: PageMapping,
  args: Arguments,
  operation: Operation,
) {
  const { first, offset } = readWindow(args, operation.largestWindow);
  const rows: unknown[] = [];
  let total: number | null = null;
  let hasNextPage: boolean | undefined;
  for (let number = Math.floor(offset / pages.pageSize) + 1; hasNextPage === undefined; number += 1) {
    const page = await readPage(field, pages, args, operation, number);
    const start = (number - 1) * pages.pageSize;
    const skipped = Math.max(0, offset + rows.length - start);
    const wanted = page.rows.slice(skipped, skipped + first - rows.length);
    rows.push(...evaluated(() => wanted.map((row) => field.connector.select(row, operation.scope({ args })))));
    total = page.total ?? total;
    if (offset + first < start + page.rows.length) hasNextPage = true;
    else if (page.more === false) hasNextPage = false;
    else if (page.more && rows.length === first) hasNextPage = true;
  }
  const edges = rows.map((node, index) => ({ cursor: encodeCursor(offset + index), node }));
  return {
    nodes: rows,
    edges,
    pageInfo: {
      hasNextPage,
      hasPreviousPage: offset > 0,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: total,
  };
}

function readWindow(args: Arguments, most: number): { first: number; offset: number } {
  const first = (args.first ?? Math.min(DEFAULT_NODES, most)) as number;
  if (first < 0 || first > most) {
    throw new AccountError('BAD_USER_INPUT', { message: `The argument first must be from 0 to ${most}.` });
  }
  const after = (args.after ?? null) as string | null;
  const index = after === null ? -1 : decodeCursor(after);
  if (index === undefined) {
    throw new AccountError('BAD_USER_INPUT', { message: 'The argument after is not a cursor of this connection.' });
  }
  return { first, offset: index + 1 };
}

async function readPage(
  { connector }: FieldMapping,
  { pageSize, nodes, next, total }: PageMapping,
  args: Arguments,
  operation: Operation,
  number: number,
): Promise<Page> {
  const scope = operation.scope({ args, page: { number, size: pageSize } });
  const answer = await operation.get(connector, scope);
  if (answer === undefined) return { rows: [], total: null, more: false };
  return evaluated(() => {
    const items = nodes(answer, scope);
    const count = total?.(answer, scope) ?? null;
    if (!Array.isArray(items) || items.length > pageSize || !(count === null || isCount(count))) {
      throw unusable(connector.source, 'a page is not a list of pageSize items, or its total is no number');
    }
    const end = (number - 1) * pageSize + items.length;
    const follows = next === undefined ? undefined : Boolean(next(answer, scope));
    const more = follows ?? (count !== null ? end < count : items.length < pageSize ? false : undefined);
    // A page with holes would move every place after it, and a client would miss courses without a word.
    if (more === true && items.length < pageSize) {
      throw unusable(connector.source, `a page has ${items.length} items, not ${pageSize}, and is not the last`);
    }
    return { rows: items, total: count, more };
  });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function unusable(source: string, what: string): AccountError {
  return new AccountError('UPSTREAM_BAD_RESPONSE', { cause: new Error(`${source}: ${what}`) });
}
