import { type DocumentNode, getOperationAST, Kind, OperationTypeNode, visit } from 'graphql';

/** The root fields of a mutation for the audit log, sorted and comma-separated; undefined for a query. */
export function mutationFields(document: DocumentNode, operationName: string | undefined): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return undefined;
  const names = new Set<string>();
  const spread = new Set<string>();
  const collect = (node: Parameters<typeof visit>[0]) =>
    visit(node as DocumentNode, {
      Field(field) {
        if (!field.name.value.startsWith('__')) names.add(field.name.value);
        return false;
      },
      FragmentSpread({ name: { value } }) {
        const known = document.definitions.find(
          (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === value,
        );
        if (known?.kind !== Kind.FRAGMENT_DEFINITION || spread.has(value)) return;
        spread.add(value);
        collect(known.selectionSet);
      },
    });
  collect(operation.selectionSet);
  return [...names].sort().join(',');
}
