import { AccountError } from '../errors.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { VariableValues } from './evaluate.ts';
import type { FieldMapping, PageMapping, TypeMapping } from './mapping.ts';
import type { AccountOperation } from './operation.ts';
import { readWindow } from './pages.ts';
import { defaultFirst, type PageWindow, type ReadPage, refuseWindow, type UpstreamPage, unusable } from './window.ts';

/**
 * Resolves a field with @connection.
 *
 * @param required - the batch without which its nodes are left out
 * @throws {AccountError | MappingValueError}
 */
export async function resolveConnection(
  field: FieldMapping,
  pages: PageMapping,
  own: { readonly args: Readonly<Record<string, unknown>>; readonly this: unknown },
  operation: AccountOperation,
  required: TypeMapping | undefined,
) {
  const { connector } = field;
  const window = windowOf(own.args, operation.largestWindow, pages.style === 'CURSOR');
  const read: ReadPage = async (page) => {
    const variables = operation.variables({ ...own, page });
    return pageOf(pages, await operation.request(connector, variables), variables, connector.source);
  };
  const found = await readWindow(window, pages, read, connector.source);
  const variables = operation.variables(own);
  const { rows } = found;
  const selected = rows.map(({ row, at }) => ({ node: connector.select(row, variables), at }));
  const kept = required === undefined ? selected : await withRequired(selected, required, operation);
  const cursorOf = (index: number) => {
    const row = rows.at(index);
    return row === undefined ? null : encodeCursor(row.at);
  };
  const countAll = async () => (await readWindow(EVERYTHING, pages, read, connector.source)).rows.length;
  return {
    nodes: kept.map(({ node }) => node),
    // graphql-js calls functions only for requested fields, and most clients never request the cursor of every item.
    edges: () => kept.map(({ node, at }) => ({ cursor: encodeCursor(at), node })),
    pageInfo: () => ({
      hasNextPage: found.hasNextPage,
      hasPreviousPage: found.hasPreviousPage,
      startCursor: cursorOf(0),
      endCursor: cursorOf(-1),
    }),
    // The upstream's total counts items that the filter leaves out. Pages that have been read are not read again.
    totalCount: pages.filter === undefined ? found.total : countAll,
  };
}

const EVERYTHING: PageWindow = { first: Number.POSITIVE_INFINITY, after: undefined };

/** The nodes that the upstream of their required fields knows. @throws {AccountError} when its call fails */
async function withRequired<T extends { readonly node: unknown }>(
  selected: readonly T[],
  required: TypeMapping,
  operation: AccountOperation,
): Promise<readonly T[]> {
  const keyOf = (node: unknown) => (node as Readonly<Record<string, unknown>> | null)?.[required.key];
  const found = await Promise.all(selected.map(({ node }) => operation.fieldsOf(required, keyOf(node))));
  return selected.filter((_one, index) => found[index] !== undefined);
}

const NO_CURSOR =
  'The argument after is not a cursor of this connection: send pageInfo.endCursor of the previous page, or null for the first page.';

function windowOf(args: Readonly<Record<string, unknown>>, most: number, linked: boolean): PageWindow {
  const first = (args.first ?? defaultFirst(most)) as number;
  refuseWindow({ first }, most);
  if (args.after == null) return { first, after: undefined };
  const after = decodeCursor(args.after as string);
  if (after === undefined || (after.page !== undefined && !linked))
    throw new AccountError('BAD_USER_INPUT', { message: NO_CURSOR });
  return { first, after };
}

function pageOf(
  { nodes, filter, next, total, pageSize }: PageMapping,
  data: unknown,
  variables: VariableValues,
  source: string,
): UpstreamPage {
  if (data === undefined) return { items: [], kept: undefined, total: null, next: null };
  const items = nodes(data, variables);
  const count = total?.(data, variables) ?? null;
  if (!Array.isArray(items) || items.length > pageSize || !(count === null || isCount(count)))
    throw unusable(source, 'a page is not a list of pageSize items, or its total is not a number');
  const kept = filter && items.map((item) => filter(item, variables) === true);
  return { items, kept, total: count, next: next?.(data, variables) };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
