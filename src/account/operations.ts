import {
  AbortedGraphQLExecutionError,
  type DocumentNode,
  type ExecutionResult,
  execute as executeDocument,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
} from 'graphql';
import { SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { OnLine } from '../upstream/body-lines.ts';
import type { AccountOptions } from './account-options.ts';
import { Mistakes } from './connect/mistakes.ts';
import { AccountOperation } from './connect/operation.ts';
import { costError, costMeter } from './cost.ts';
import { type CheckedDocument, documentChecker } from './documents.ts';
import { formatError, maskResult } from './errors.ts';
import { failedField } from './failed-field.ts';
import type { OperationData, PreparedOperation } from './prepared-operation.ts';
import type { GraphqlRequest } from './request.ts';
import { buildAccountSchema } from './schema.ts';
import { scopesMissingForMutation } from './scopes.ts';
import { readTrustedDocuments } from './trusted-documents.ts';

/** What all operations of one configuration share. */
export type Operations = ReturnType<typeof createOperations>;

/** @throws {MappingError} with all mistakes in the contract and the mapping files, or in the trusted documents */
export function createOperations(options: AccountOptions) {
  const { config, limits, introspection, documents } = options;
  const account = buildAccountSchema(options.schema, options.mappings, {
    ...options,
    config: { open: Object.keys(config.open), secret: Object.keys(config.secret) },
  });
  const check = documentChecker(account.schema, { limits, introspection });
  const mistakes = new Mistakes();
  const trusted = documents && readTrustedDocuments(documents.file, check, mistakes);
  mistakes.throwIfAny();
  /** The value of $config. */
  const values: Readonly<Record<string, unknown>> = { ...config.open, ...config.secret };
  return { ...account, options, check, trusted, config: values, costOf: costMeter(account, limits.pageSize) };
}

/** The document of a request, checked and affordable, or the errors with which it is refused. */
export function findDocument(
  operations: Operations,
  { source, operationName, variables }: GraphqlRequest,
): CheckedDocument {
  const { trusted, check, options } = operations;
  if ('query' in source && options.documents?.only === true) return refusedDocument('PERSISTED_DOCUMENT_REQUIRED');
  const text = 'query' in source ? source.query : trusted?.get(source.documentId);
  if (text === undefined) return refusedDocument('PERSISTED_DOCUMENT_NOT_FOUND');
  return affordable(operations, check(text), operationName, variables);
}

const DOCUMENT_REFUSALS = {
  PERSISTED_DOCUMENT_NOT_FOUND: 'No document has this ID.',
  PERSISTED_DOCUMENT_REQUIRED: 'Only trusted documents are run: send documentId.',
} as const;

function refusedDocument(code: keyof typeof DOCUMENT_REFUSALS): CheckedDocument {
  return { errors: [{ message: DOCUMENT_REFUSALS[code], extensions: { code } }] };
}

function affordable(
  { costOf, options }: Operations,
  checked: CheckedDocument,
  operationName: string | undefined,
  variables: GraphqlRequest['variables'],
): CheckedDocument {
  if (checked.document === undefined) return checked;
  const measured = costOf(checked.document, operationName, variables);
  const limit = options.limits.cost;
  if (measured === undefined || measured.cost <= limit) return checked;
  const { cost, at } = measured;
  return { errors: [formatError(costError(cost, limit, at), 'MAX_COST_EXCEEDED', undefined, { cost, limit })] };
}

/** Executes a checked document. The deadline aborts `ended`; the result then has what has arrived. */
export async function execute(
  operations: Operations,
  document: DocumentNode,
  request: GraphqlRequest,
  principal: MemberPrincipal,
  ended: AbortController,
  onLine?: OnLine,
): Promise<
  | SessionOver
  | { readonly executed: boolean; readonly withoutRole: boolean; readonly body: Readonly<Record<string, unknown>> }
> {
  const { schema, mapping, config, options } = operations;
  const { call, limits, deadline, onError = () => {} } = options;
  const late = new Error('The deadline of the operation has passed.');
  const timer = setTimeout(() => ended.abort(late), deadline * 1000);
  try {
    const { signal } = ended;
    const operation = new AccountOperation({
      ...{ principal, call, mapping, config, limits, signal },
      onLine:
        onLine &&
        ((line) => {
          const isProgress = onLine(line);
          if (isProgress) timer.refresh();
          return isProgress;
        }),
    });
    const result = await executeOperation(schema, document, request, operation, signal);
    if (operation.sessionOver) return SESSION_OVER;
    const body = maskResult(result, {
      deadlinePassed: signal.aborted,
      failedField: (error) => failedField(error, operations, document, request.operationName),
      onError,
    });
    return { executed: result.data !== undefined, withoutRole: operation.withoutRole, body };
  } finally {
    clearTimeout(timer);
  }
}

/** Executes one operation. When the signal aborts, the result has what has arrived; the rest is null with an error. */
export async function executeOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  { variables, operationName }: GraphqlRequest,
  operation: AccountOperation,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  let result: ExecutionResult;
  try {
    result = await executeDocument({
      schema,
      document,
      contextValue: operation,
      variableValues: variables ?? null,
      operationName: operationName ?? null,
      abortSignal: signal,
      hideSuggestions: true,
    });
  } catch (thrown) {
    if (!(thrown instanceof AbortedGraphQLExecutionError)) throw thrown;
    result = (await thrown.abortedResult) as ExecutionResult;
  }
  const { alsoFailed } = operation;
  return alsoFailed.length === 0 ? result : { ...result, errors: [...(result.errors ?? []), ...alsoFailed] };
}

/** Prepares a document of the operator's, or lists what is wrong with it. */
export function prepareOperation(
  operations: Operations,
  query: string,
): PreparedOperation | { readonly mistakes: readonly string[] } {
  const checked = operations.check(query);
  if (checked.document === undefined) return { mistakes: checked.errors.map(({ message }) => message) };
  const { document } = checked;
  const [operation, ...others] = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  if (operation?.kind !== Kind.OPERATION_DEFINITION || others.length > 0)
    return { mistakes: ['must have one operation'] };
  const { schema, guards } = operations;
  return {
    readOnly: operation.operation === OperationTypeNode.QUERY,
    variables: new Map(
      (operation.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => [
        variable.name.value,
        { required: type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined },
      ]),
    ),
    missing: (granted) => scopesMissingForMutation(schema, guards, document, undefined, granted) ?? [],
    async run(principal, variables, signal, onLine) {
      const afforded = affordable(operations, checked, undefined, variables);
      if (afforded.document === undefined) return { data: undefined, errors: afforded.errors };
      const ended = new AbortController();
      signal.addEventListener('abort', () => ended.abort(signal.reason), { once: true });
      const request: GraphqlRequest = { source: { query }, operationName: undefined, variables };
      const result = await execute(operations, document, request, principal, ended, onLine);
      if (result === SESSION_OVER) return result;
      const { data, errors = [] } = result.body as { data?: OperationData | null; errors?: GraphQLFormattedError[] };
      return { data: data ?? undefined, errors };
    },
  };
}
