import type { MemberPrincipal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';

/**
 * A GraphQL document that is ready to run for a member. The Account API creates it; tools know only this interface.
 */
interface PreparedOperation {
  readonly readOnly: boolean;
  readonly variables: ReadonlyMap<string, { readonly required: boolean }>;
  /** The scopes it needs beyond those granted, checked before it runs. */
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

/** An error in GraphQL's wire format, with a message that clients may see. */
export interface OperationError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
}

/** Prepares a document, or returns what is wrong with it. */
export type PrepareOperation = (document: string) => PreparedOperation | { readonly mistakes: readonly string[] };
