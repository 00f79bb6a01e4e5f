import { valueAt } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';
import { pointerSteps } from '../http/json-pointer.ts';

/** Maps an upstream's parsed answer to a tool's result; undefined where the answer has no value. */
export type AnswerMapping = (source: unknown) => unknown;

const POINTER = /^(?:\/[^/]*)*$/;

/**
 * Compiles a tool's `result`. A string is a JSON pointer (RFC 6901). An object maps names to pointers; with `each`, it
 * maps every item of the list at that pointer, and with `where`, only the items in which that pointer leads to a value
 * other than null. Returns what is wrong and where if the shape is invalid.
 */
export function compileMapping(
  shape: unknown,
  path: readonly string[] = [],
): AnswerMapping | { readonly mistake: string; readonly path: readonly string[] } {
  if (typeof shape === 'string') {
    if (!POINTER.test(shape)) return { mistake: 'must be a JSON pointer such as /data/title', path };
    const steps = pointerSteps(shape);
    return (source) => valueAt(source, steps);
  }
  if (!isObject(shape)) {
    return { mistake: 'must be a JSON pointer, or a mapping of names to them', path };
  }
  const { each, where, ...named } = shape;
  const members: [string, AnswerMapping][] = [];
  for (const [name, inner] of Object.entries(named)) {
    const member = compileMapping(inner, [...path, name]);
    if (typeof member !== 'function') return member;
    members.push([name, member]);
  }
  const object: AnswerMapping = (source) =>
    Object.fromEntries(
      members.flatMap(([name, member]) => {
        const value = member(source);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  if (each === undefined) return where === undefined ? object : { mistake: 'needs `each`', path: [...path, 'where'] };
  const list = compileMapping(each, [...path, 'each']);
  if (typeof list !== 'function') return list;
  const filter = where === undefined ? undefined : compileMapping(where, [...path, 'where']);
  if (filter !== undefined && typeof filter !== 'function') return filter;
  return (source) => {
    const items = list(source);
    if (!Array.isArray(items)) return undefined;
    const selected = filter === undefined ? items : items.filter((item) => (filter(item) ?? null) !== null);
    return members.length === 0 ? selected : selected.map(object);
  };
}
