import { isObject, type JsonObject } from '../../../http/json-object.ts';

const MOST_HOPS = 16;

/** An OpenAPI document from an upstream. It is untrusted and may be invalid. */
export type Source = ReturnType<typeof sourceOf>;

export function sourceOf(document: JsonObject) {
  const at = (pointer: string): unknown => {
    let node: unknown = document;
    for (const step of pointer.slice(2).split('/')) {
      const key = step.replace(/~1/g, '/').replace(/~0/g, '~');
      if (!isObject(node) || !Object.hasOwn(node, key)) return undefined;
      node = node[key];
    }
    return node;
  };
  return {
    document,
    /** Whether it uses schemas of OpenAPI 3.0, which are not JSON Schema. */
    isOld: String(document.openapi).startsWith('3.0'),
    /** Follows references within the document; undefined if a reference leads outside, to nothing, or in a circle. */
    resolve(node: unknown): JsonObject | undefined {
      let found = node;
      for (let hops = 0; hops < MOST_HOPS; hops += 1) {
        if (!isObject(found)) return undefined;
        if (found.$ref === undefined) return found;
        if (typeof found.$ref !== 'string' || !found.$ref.startsWith('#/')) return undefined;
        found = at(found.$ref);
      }
      return undefined;
    },
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
