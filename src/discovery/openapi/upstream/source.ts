import { isObject, type JsonObject } from '../../../http/json-object.ts';
import { resolved } from '../../../http/json-pointer.ts';

/** An OpenAPI document from an upstream. It is untrusted and may be invalid. */
export type Source = ReturnType<typeof sourceOf>;

export function sourceOf(document: JsonObject) {
  return {
    document,
    /** Whether it uses schemas of OpenAPI 3.0, which are not JSON Schema. */
    isOld: String(document.openapi).startsWith('3.0'),
    /** Follows references within the document; undefined if a reference leads outside, to nothing, or in a circle. */
    resolve: (node: unknown): JsonObject | undefined => resolved(document, node),
  };
}

/** The members that are objects themselves and not marked as internal. */
export function membersOf(node: unknown): readonly (readonly [string, JsonObject])[] {
  if (!isObject(node)) return [];
  return Object.entries(node).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]) && !isInternal(entry[1]),
  );
}

/** Whether the author marked it as not public (`x-internal`). */
export function isInternal(node: JsonObject): boolean {
  return node['x-internal'] === true;
}

/** The named members whose values are strings. */
export function texts(node: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (typeof node[name] === 'string' ? [[name, node[name]]] : [])));
}
