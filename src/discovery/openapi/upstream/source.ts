import { isTree, type Tree } from '../../../config/tree.ts';

const MOST_HOPS = 16;

/** An OpenAPI document that somebody else wrote: nothing of it is known to be as it should. */
export interface Source {
  readonly document: Tree;
  /** Whether its schemas are those of OpenAPI 3.0, which JSON Schema is not. */
  readonly isOld: boolean;
  /** Follows references inside the document. Out: undefined for what leads outside, nowhere, or in circles. */
  resolve(node: unknown): Tree | undefined;
}

export function sourceOf(document: Tree): Source {
  const at = (pointer: string): unknown => {
    let node: unknown = document;
    for (const step of pointer.slice(2).split('/')) {
      const key = step.replace(/~1/g, '/').replace(/~0/g, '~');
      if (!isTree(node) || !Object.hasOwn(node, key)) return undefined;
      node = node[key];
    }
    return node;
  };
  return {
    document,
    isOld: String(document.openapi).startsWith('3.0'),
    resolve(node) {
      let found = node;
      for (let hops = 0; hops < MOST_HOPS; hops += 1) {
        if (!isTree(found)) return undefined;
        if (found.$ref === undefined) return found;
        if (typeof found.$ref !== 'string' || !found.$ref.startsWith('#/')) return undefined;
        found = at(found.$ref);
      }
      return undefined;
    },
  };
}

/** The members of a mapping that are mappings themselves and are not marked as internal. */
export function membersOf(node: unknown): readonly (readonly [string, Tree])[] {
  if (!isTree(node)) return [];
  return Object.entries(node).filter((entry): entry is [string, Tree] => isTree(entry[1]) && !isInternal(entry[1]));
}

/** What its author marked as not for everybody. */
export function isInternal(node: Tree): boolean {
  return node['x-internal'] === true;
}

/** Of the named members, those that are text. */
export function texts(node: Tree, ...names: readonly string[]): Tree {
  return Object.fromEntries(names.flatMap((name) => (typeof node[name] === 'string' ? [[name, node[name]]] : [])));
}
