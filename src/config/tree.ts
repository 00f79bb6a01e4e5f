import { isObject, listOf } from '../http/json-object.ts';

/** A configuration layer as plain data. */
export type Tree = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

/** The value at `path`, or undefined. Only own keys count: `__proto__` finds nothing. */
export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/** The web address at `path`, or undefined. */
export function urlAt(tree: unknown, path: Path): URL | undefined {
  const value = valueAt(tree, path);
  return typeof value === 'string' && /^https?:\/\//i.test(value) ? (URL.parse(value) ?? undefined) : undefined;
}

/** The list at `path`; empty for anything else. */
export function listAt(tree: unknown, path: Path): readonly unknown[] {
  return listOf(valueAt(tree, path));
}

/** The keys of the mapping at `path`; none for anything else. */
export function keysAt(tree: unknown, path: Path): readonly string[] {
  const value = valueAt(tree, path);
  return isObject(value) ? Object.keys(value) : [];
}

/** A tree with `value` at `path` and nothing else. */
export function nest(path: readonly string[], value: unknown): Tree {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Tree;
}

/**
 * Merges `above` into `below`. Mappings merge key by key; everything else, including lists, replaces the value below;
 * `undefined` keeps it. A mapping with a different `kind` replaces the one below completely, since its keys no longer
 * apply: a memory store has no `path`.
 */
export function merge(below: unknown, above: unknown): unknown {
  if (above === undefined) return below;
  if (!isObject(below) || !isObject(above)) return above;
  if (typeof below.kind === 'string' && typeof above.kind === 'string' && below.kind !== above.kind) return above;
  // fromEntries defines keys instead of assigning them, so a key named __proto__ stays a key.
  return Object.fromEntries(
    [...new Set([...Object.keys(below), ...Object.keys(above)])].map((key) => [
      key,
      merge(Object.hasOwn(below, key) ? below[key] : undefined, Object.hasOwn(above, key) ? above[key] : undefined),
    ]),
  );
}

/** Formats a path for people: `routes[3].upstream`, `scopes["courses:read"].title`. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join('');
}
