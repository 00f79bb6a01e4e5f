import type { MemberPrincipal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';

/** A GraphQL document, ready to run for a member. The Account API makes it; a tool only knows what it can do. */
interface PreparedOperation {
  readonly readOnly: boolean;
  readonly variables: ReadonlyMap<string, { readonly required: boolean }>;
  /** The scopes that it asks for before it begins, besides those granted. */
  readonly missing: (granted: Scope) => readonly string[];
  readonly run: (
    principal: MemberPrincipal,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<{
    readonly data: Readonly<Record<string, unknown>> | undefined;
    readonly errors: readonly OperationError[];
  }>;
}

/** An error in the wire form of GraphQL, in words that a client may read. */
export interface OperationError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
}

/** In: a document. Out: it, ready to run, or what is wrong with it. */
export type PrepareOperation = (document: string) => PreparedOperation | { readonly mistakes: readonly string[] };
