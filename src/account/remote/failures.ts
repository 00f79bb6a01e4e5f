import { GraphQLError } from 'graphql';
import { AccountError, type AccountErrorCode } from '../errors.ts';
import type { FieldPlan, SelectionPlan } from './plan.ts';

type Key = string | number;

/** One error of an upstream's answer. */
export interface UpstreamError {
  readonly message: string;
  readonly code: string | undefined;
}

/** The errors of an answer, by the path at which the upstream has them. */
export class ErrorTree {
  readonly children = new Map<Key, ErrorTree>();
  readonly own: UpstreamError[] = [];

  add([key, ...rest]: readonly Key[], error: UpstreamError): void {
    if (key === undefined) {
      this.own.push(error);
      return;
    }
    const child = this.children.get(key) ?? new ErrorTree();
    this.children.set(key, child);
    child.add(rest, error);
  }
}

/** What a client hears of an upstream's error, by the code the upstream gave it. Nothing else of it is said. */
const CODES: Readonly<Record<string, AccountErrorCode>> = { BAD_USER_INPUT: 'BAD_USER_INPUT' };
/** A record of somebody else's is, to one who writes, a record that is not there. */
const WRITE_CODES: typeof CODES = { ...CODES, NOT_FOUND: 'NOT_FOUND', FORBIDDEN: 'NOT_FOUND' };

/** An upstream's error as ours. */
function translated({ code, message }: UpstreamError, writes: boolean): AccountError {
  const own = code === undefined ? undefined : (writes ? WRITE_CODES : CODES)[code];
  return new AccountError(own ?? 'UPSTREAM_ERROR', { cause: new Error(message) });
}

/** A place in the client's response, and the fields of the client's document that made it. */
export interface Spot {
  readonly path: readonly Key[];
  readonly nodes: FieldPlan['nodes'];
}

/**
 * All errors at and below a place where the upstream has null, each at its own path in the client's response. An error
 * deeper down than the null says what made it: a field there that could not be null.
 */
export function failuresBelow(
  tree: ErrorTree | undefined,
  spot: Spot,
  inner: SelectionPlan | undefined,
  writes: boolean,
): readonly GraphQLError[] {
  if (tree === undefined) return [];
  const own = tree.own.map((error) => located(translated(error, writes), spot));
  const below = [...tree.children].flatMap(([key, child]) => {
    if (typeof key === 'number') {
      return failuresBelow(child, { path: [...spot.path, key], nodes: spot.nodes }, inner, writes);
    }
    const field = fieldOf(inner, key);
    // Below what was asked for there is nothing to name.
    if (field?.key === undefined) return failuresBelow(child, spot, undefined, writes);
    return failuresBelow(child, { path: [...spot.path, field.key], nodes: field.nodes }, field.inner, writes);
  });
  return [...own, ...below];
}

/** An error with the place it belongs to, which graphql-js leaves as it is. */
export function located(error: AccountError, { path, nodes }: Spot): GraphQLError {
  return new GraphQLError(error.message, { nodes, path, originalError: error });
}

function fieldOf(selection: SelectionPlan | undefined, alias: string): FieldPlan | undefined {
  if (selection === undefined) return undefined;
  const objects = selection.abstract ? [...selection.objects.values()] : [selection.object];
  return objects.flatMap(({ fields }) => fields).find((field) => field.alias === alias);
}
