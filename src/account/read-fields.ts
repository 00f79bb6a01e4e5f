import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getOperationAST,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql';
import { isObject, type JsonObject } from '../http/json-object.ts';

/**
 * Lists the parts of an account that an operation returned or changed: for a query the fields of each top-level object
 * (`viewer.orders`), for a mutation its root fields (`savePlaybackPosition`). A field that is null in the response was
 * not returned, whatever the reason. Expects a valid document and the response's data; each path is listed once.
 */
export function readFields(
  document: DocumentNode,
  operationName: string | undefined,
  data: JsonObject | null | undefined,
): readonly string[] {
  const operation = getOperationAST(document, operationName);
  if (!operation || !data) return [];
  const fragments = fragmentsOf(document);
  const found = new Set<string>();
  for (const [name, value, below] of given(fragments, operation.selectionSet, data)) {
    const parts = operation.operation === OperationTypeNode.QUERY && isObject(value) ? below : [];
    if (parts.length === 0) found.add(name);
    for (const set of parts)
      for (const [part] of given(fragments, set, value as JsonObject)) found.add(`${name}.${part}`);
  }
  return [...found];
}

/** The fields of a selection that have a value, with their name, value and selections. Skips introspection. */
function given(fragments: Fragments, set: SelectionSetNode, data: JsonObject): [string, unknown, SelectionSetNode[]][] {
  return fieldsOf(fragments, set).flatMap((field): [string, unknown, SelectionSetNode[]][] => {
    const value = data[(field.alias ?? field.name).value];
    if (value === undefined || value === null || field.name.value.startsWith('__')) return [];
    return [[field.name.value, value, field.selectionSet ? [field.selectionSet] : []]];
  });
}

/** The root fields of a mutation for the audit log, sorted and comma-separated; undefined for a query. */
export function mutationFields(document: DocumentNode, operationName: string | undefined): string | undefined {
  const operation = getOperationAST(document, operationName);
  if (operation?.operation !== OperationTypeNode.MUTATION) return undefined;
  const names = fieldsOf(fragmentsOf(document), operation.selectionSet).map(({ name }) => name.value);
  return [...new Set(names)]
    .filter((name) => !name.startsWith('__'))
    .sort()
    .join(',');
}

export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** The fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Fragments {
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** The fields of a selection, those of fragments included. Expects a valid document. */
export function fieldsOf(fragments: Fragments, set: SelectionSetNode): readonly FieldNode[] {
  return set.selections.flatMap((selection): readonly FieldNode[] => {
    if (selection.kind === Kind.FIELD) return [selection];
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
    return inner === undefined ? [] : fieldsOf(fragments, inner.selectionSet);
  });
}
