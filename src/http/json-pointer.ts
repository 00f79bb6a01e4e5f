const INDEX = /^(?:0|[1-9]\d*)$/;

/**
 * The value at an RFC 6901 pointer into an answer that is about one member; undefined if there is none. Only own
 * properties are read.
 * @param several - called, and its result returned, for a pointer through an array of several elements: the first of
 * several members need not be the one that is meant
 */
export function at(document: unknown, pointer: string, several: (what: string) => undefined): unknown {
  let value = document;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value) && value.length > 1) return several(`a list of ${value.length} on the way to ${pointer}`);
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    if (Array.isArray(value) && !INDEX.test(key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
