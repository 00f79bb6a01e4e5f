import { GraphQLError } from 'graphql';

/** The requested part of a list. */
export interface Slice {
  readonly first: number | null;
  readonly after?: string | null;
}

/** A part of a list, in the form of the schema's connections. */
export interface Connection<T> {
  readonly nodes: readonly T[];
  readonly edges: readonly { readonly cursor: string; readonly node: T }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: number;
}

const LARGEST_SLICE = 100;

/** The requested part of a list. Throws a GraphQLError for an invalid `first` or `after`. */
export function connectionOf<T extends { readonly id: string }>(items: readonly T[], slice: Slice): Connection<T> {
  const first = slice.first ?? 20;
  if (first < 0) throw refused('first must not be negative.');
  const start = slice.after == null ? 0 : 1 + items.findIndex((item) => cursorOf(item) === slice.after);
  if (slice.after != null && start === 0) throw refused('after is not a cursor of this list.');
  const nodes = items.slice(start, start + Math.min(first, LARGEST_SLICE));
  const edges = nodes.map((node) => ({ cursor: cursorOf(node), node }));
  return {
    nodes,
    edges,
    pageInfo: {
      hasNextPage: start + nodes.length < items.length,
      hasPreviousPage: start > 0,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: items.length,
  };
}

function refused(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
}

function cursorOf(item: { readonly id: string }): string {
  return Buffer.from(`after:${item.id}`).toString('base64url');
}
