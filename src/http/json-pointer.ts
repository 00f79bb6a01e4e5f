import { isObject, type JsonObject } from './json-object.ts';

const INDEX = /^(?:0|[1-9]\d*)$/;
const MOST_REFERENCES = 16;
/** Characters. Thousands of places may refer to the same reference. */
const LONGEST_REFERENCE = 1000;

/** The names and indexes in a JSON pointer. */
export function pointerSteps(pointer: string): readonly string[] {
  const steps = pointer.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/**
 * The value at an RFC 6901 pointer into an answer that is about one member; undefined if there is none. Only own
 * properties are read.
 * @param several - called, and its result returned, for a pointer through an array of several elements: the first of
 * several members need not be the one that is meant
 */
export function at(document: unknown, pointer: string, several: (what: string) => undefined): unknown {
  let value = document;
  for (const key of pointerSteps(pointer)) {
    if (Array.isArray(value) && value.length > 1) return several(`a list of ${value.length} on the way to ${pointer}`);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && !INDEX.test(key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/**
 * The object itself, or the one that its `$ref` leads to within the document. Undefined if it is none, or if a reference
 * leads outside, to nothing, or in a circle. Nothing is fetched.
 */
export function resolved(document: JsonObject, node: unknown): JsonObject | undefined {
  let found = node;
  for (let hops = 0; hops < MOST_REFERENCES; hops += 1) {
    if (!isObject(found)) return undefined;
    if (found.$ref === undefined) return found;
    if (typeof found.$ref !== 'string' || !found.$ref.startsWith('#/')) return undefined;
    if (found.$ref.length > LONGEST_REFERENCE) return undefined;
    found = pointerSteps(found.$ref).reduce<unknown>(
      (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
      document,
    );
  }
  return undefined;
}
