import { type DocumentNode, type GraphQLFormattedError, Kind, OperationTypeNode } from 'graphql';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { Scope } from '../oauth/scope.ts';

export type OperationData = Readonly<Record<string, unknown>>;

/** A document of the operator's own, checked once, run for whichever member asks. */
export interface PreparedOperation {
  /** Whether it changes nothing: a query. */
  readonly readOnly: boolean;
  /** Its variables, and whether each must be given. */
  readonly variables: ReadonlyMap<string, { readonly required: boolean }>;
  /** The scopes that a write asks for besides those granted. */
  readonly missing: (granted: Scope) => readonly string[];
  /** Runs it by the guards, limits and masks of the Account API. Never throws for what an upstream does. */
  readonly run: (
    principal: MemberPrincipal,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<{ readonly data: OperationData | undefined; readonly errors: readonly GraphQLFormattedError[] }>;
}

/** In: a document with one operation. Out: it, ready to run; or what is wrong with it. */
export type PrepareOperation = (document: string) => PreparedOperation | { readonly mistakes: readonly string[] };

/** What is known of a valid document before it runs. */
export function operationFacts(
  document: DocumentNode,
  missing: (granted: Scope) => readonly string[] | undefined,
): Omit<PreparedOperation, 'run'> {
  const operation = document.definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION);
  return {
    readOnly: operation?.operation === OperationTypeNode.QUERY,
    variables: new Map(
      (operation?.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => [
        variable.name.value,
        { required: type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined },
      ]),
    ),
    missing: (granted) => missing(granted) ?? [],
  };
}
