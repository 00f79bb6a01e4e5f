import { GraphQLError } from 'graphql';

/** The requested part of a list. */
export interface Slice {
  readonly first: number | null;
  readonly after?: string | null;
}

const LARGEST_SLICE = 100;

/** The requested part of a list as a connection. Throws a GraphQLError for an invalid `first` or `after`. */
export function connectionOf<T extends { readonly id: string }>(items: readonly T[], { first: most, after }: Slice) {
  const first = most ?? 20;
  if (first < 0) throw refused('first must not be negative.');
  const all = items.map((node) => ({ cursor: Buffer.from(`after:${node.id}`).toString('base64url'), node }));
  const start = after == null ? 0 : 1 + all.findIndex(({ cursor }) => cursor === after);
  if (after != null && start === 0) throw refused('after is not a cursor of this list: send endCursor of a page.');
  const edges = all.slice(start, start + Math.min(first, LARGEST_SLICE));
  const pageInfo = {
    hasNextPage: start + edges.length < all.length,
    hasPreviousPage: start > 0,
    startCursor: edges.at(0)?.cursor,
    endCursor: edges.at(-1)?.cursor,
  };
  return { nodes: edges.map(({ node }) => node), edges, pageInfo, totalCount: all.length };
}

/** An error of the query, for its author. */
export function refused(message: string, code = 'BAD_USER_INPUT'): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
