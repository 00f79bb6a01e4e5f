import { GraphQLError } from 'graphql';
import { AccountError, type AccountErrorCode } from '../errors.ts';
import type { FieldPlan, SelectionPlan } from './plan.ts';

type Key = string | number;

/** One error in an upstream's response. */
export interface UpstreamError {
  readonly message: string;
  readonly code: string | undefined;
}

/** The errors in an upstream's response, as a tree by path. */
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

/** Our error codes for those of an upstream. Nothing else of its error is passed on. */
const CODES: Readonly<Record<string, AccountErrorCode>> = { BAD_USER_INPUT: 'BAD_USER_INPUT' };
/** For a write, another member's record is reported as not found. */
const WRITE_CODES: typeof CODES = { ...CODES, NOT_FOUND: 'NOT_FOUND', FORBIDDEN: 'NOT_FOUND' };

/** Translates an upstream's error. */
function translated({ code, message }: UpstreamError, writes: boolean): AccountError {
  const own = code === undefined ? undefined : (writes ? WRITE_CODES : CODES)[code];
  return new AccountError(own ?? 'UPSTREAM_ERROR', { cause: new Error(message) });
}

/** A place in the client's response, with the fields of the client's document that it belongs to. */
export interface ResponsePlace {
  readonly path: readonly Key[];
  readonly nodes: FieldPlan['nodes'];
}

/**
 * All errors at and below a place where the upstream's response has null, each at its path in the client's response. An
 * error below the null is its cause: a non-null field there failed.
 */
export function failuresBelow(
  tree: ErrorTree | undefined,
  place: ResponsePlace,
  inner: SelectionPlan | undefined,
  writes: boolean,
): readonly GraphQLError[] {
  if (tree === undefined) return [];
  const own = tree.own.map((error) => located(translated(error, writes), place));
  const below = [...tree.children].flatMap(([key, child]) => {
    if (typeof key === 'number')
      return failuresBelow(child, { path: [...place.path, key], nodes: place.nodes }, inner, writes);
    const field = fieldOf(inner, key);
    // The client did not request this field, so the error belongs to the parent.
    if (field?.key === undefined) return failuresBelow(child, place, undefined, writes);
    return failuresBelow(child, { path: [...place.path, field.key], nodes: field.nodes }, field.inner, writes);
  });
  return [...own, ...below];
}

/** An error with its own location and path, which graphql-js then keeps. */
export function located(error: AccountError, { path, nodes }: ResponsePlace): GraphQLError {
  return new GraphQLError(error.message, { nodes, path, originalError: error });
}

function fieldOf(selection: SelectionPlan | undefined, alias: string): FieldPlan | undefined {
  const objects = [...(selection?.objects.values() ?? [])];
  return objects.flatMap(({ fields }) => fields).find((field) => field.alias === alias);
}
