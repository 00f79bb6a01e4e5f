import {
  AbortedGraphQLExecutionError,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
} from 'graphql';
import type { AccountOperation } from './connect/operation.ts';
import type { GraphqlRequest } from './request.ts';

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
    result = await execute({
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
