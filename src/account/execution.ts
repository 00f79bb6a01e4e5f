import {
  AbortedGraphQLExecutionError,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
} from 'graphql';
import type { Operation } from './connect/operation.ts';
import type { GraphqlRequest } from './request.ts';

export interface ExecutionInput {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly request: GraphqlRequest;
  readonly operation: Operation;
  readonly signal: AbortSignal;
}

/** Executes one operation. When the signal aborts, the result has what has arrived; the rest is null with an error. */
export async function executeOperation(input: ExecutionInput): Promise<ExecutionResult> {
  const result = await executed(input);
  const { alsoFailed } = input.operation;
  return alsoFailed.length === 0 ? result : { ...result, errors: [...(result.errors ?? []), ...alsoFailed] };
}

async function executed(input: ExecutionInput): Promise<ExecutionResult> {
  const { schema, document, request, operation, signal } = input;
  try {
    return await execute({
      schema,
      document,
      contextValue: operation,
      variableValues: request.variables ?? null,
      operationName: request.operationName ?? null,
      abortSignal: signal,
      hideSuggestions: true,
    });
  } catch (thrown) {
    if (thrown instanceof AbortedGraphQLExecutionError) return (await thrown.abortedResult) as ExecutionResult;
    throw thrown;
  }
}
