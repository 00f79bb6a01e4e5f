import type { GraphQLFormattedError } from 'graphql';
import type { SessionOver } from '../oauth/challenge.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';
import type { OnLine } from '../upstream/body-lines.ts';

export type OperationData = Readonly<Record<string, unknown>>;

/** A document from the configuration, checked once and run for any member. */
export interface PreparedOperation {
  /** Whether it is a query. */
  readonly readOnly: boolean;
  /** Its variables, and whether each is required. */
  readonly variables: ReadonlyMap<string, { readonly required: boolean }>;
  /** The scopes that a mutation needs in addition to those granted. */
  readonly missing: (granted: Scope) => readonly string[];
  /**
   * Runs it with the guards, limits and error masking of the Account API. Does not throw when an upstream fails.
   * `onLine` takes the lines of REST upstreams that report progress, which restarts the deadline.
   */
  readonly run: (
    principal: MemberPrincipal,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    onLine?: OnLine,
  ) => Promise<
    SessionOver | { readonly data: OperationData | undefined; readonly errors: readonly GraphQLFormattedError[] }
  >;
}

/** Prepares a document with one operation, or lists what is wrong with it. */
export type PrepareOperation = (document: string) => PreparedOperation | { readonly mistakes: readonly string[] };
