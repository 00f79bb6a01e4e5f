/** An upstream's value does not have the type that a mapping expects. Becomes UPSTREAM_BAD_RESPONSE. */
export class MappingValueError extends Error {
  /** @param message - for the log, so without any of the data */
  constructor(message: string) {
    super(message);
    this.name = 'MappingValueError';
    // It says nothing about the mapping, only how graphql-js came to the value.
    delete this.stack;
  }
}

export function fail(method: string, wanted: string): never {
  throw new MappingValueError(`->${method} needs ${wanted}`);
}

export function number(name: string, value: unknown): number {
  return typeof value === 'number' ? value : fail(name, 'a number');
}

export function list(name: string, value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : fail(name, 'a list');
}

export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
