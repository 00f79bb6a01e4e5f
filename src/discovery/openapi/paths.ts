import type { JsonObject } from '../../http/json-object.ts';
import { type PathTemplate, templateKey } from './path-template.ts';

/** The methods that OpenAPI 3.1 supports, in its order. */
export const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'] as const;

interface Item {
  readonly path: string;
  readonly names: readonly string[];
  readonly operations: Map<string, JsonObject>;
}

/** Builds the `paths` of a document. Templates that differ only in parameter names become one path. */
export class Paths {
  readonly #items = new Map<string, Item>();
  readonly #ids = new Set<string>();
  /** The last number tried for an id, because a document may give all its operations the same one. */
  readonly #numbers = new Map<string, number>();

  /** Adds an operation, unless the path already has one with this method. A duplicate `operationId` gets a number. */
  add({ path, parameters }: PathTemplate, method: string, operation: JsonObject): void {
    const key = templateKey(path);
    const item = this.#items.get(key) ?? { path, names: namesIn(path), operations: new Map() };
    this.#items.set(key, item);
    const word = method.toLowerCase();
    if (item.operations.has(word)) return;
    const given = namesIn(path);
    const named = (one: JsonObject): JsonObject => {
      const at = one.in === 'path' ? given.indexOf(String(one.name)) : -1;
      return at === -1 ? one : { ...one, name: item.names[at] };
    };
    const all = [...parameters, ...((operation.parameters as readonly JsonObject[] | undefined) ?? [])].map(named);
    const { operationId = idOf(method, item.path), parameters: _, ...rest } = operation;
    item.operations.set(word, {
      operationId: this.#unique(String(operationId)),
      ...rest,
      ...(all.length === 0 ? {} : { parameters: all }),
    });
  }

  /** Paths in the order they were added, methods in the order of OpenAPI. */
  json(): JsonObject {
    return Object.fromEntries(
      [...this.#items.values()].map(({ path, operations }) => [
        path,
        Object.fromEntries(
          METHODS.flatMap((method) => {
            const operation = operations.get(method.toLowerCase());
            return operation === undefined ? [] : [[method.toLowerCase(), operation]];
          }),
        ),
      ]),
    );
  }

  #unique(wish: string): string {
    let id = wish;
    let count = this.#numbers.get(wish) ?? 1;
    while (this.#ids.has(id)) {
      count += 1;
      id = `${wish}${count}`;
    }
    this.#numbers.set(wish, count);
    this.#ids.add(id);
    return id;
  }
}

function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map((match) => match[1] ?? '');
}

/** `GET /api/v1/courses/{rest}` becomes `getApiV1CoursesRest`. */
function idOf(method: string, path: string): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => (word[0] ?? '').toUpperCase() + word.slice(1)).join('');
}
