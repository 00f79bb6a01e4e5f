import { type DocumentNode, getOperationAST, OperationTypeNode } from 'graphql';
import { fieldsOf } from './read-fields.ts';

/** The root fields of a mutation for the audit log, sorted and comma-separated; undefined for a query. */
export function mutationFields(document: DocumentNode, operationName: string | undefined): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return undefined;
  const names = fieldsOf(document, operation.selectionSet).map(({ name }) => name.value);
  return [...new Set(names)]
    .filter((name) => !name.startsWith('__'))
    .sort()
    .join(',');
}
