import { AccountError } from '../errors.ts';
import type { Connector } from './connector.ts';
import type { VariableValues } from './evaluate.ts';
import type { TypeMapping } from './mapping.ts';
import { unusable } from './window.ts';

type Fields = Readonly<Record<string, unknown>>;
type Waiting = ReturnType<typeof Promise.withResolvers<Fields | undefined>>;

/** The part of an operation that a batch uses. */
interface Requesting {
  variables(given: VariableValues): VariableValues;
  request(connector: Connector, variables: VariableValues): Promise<unknown>;
}

/**
 * Collects the objects of one type whose batched fields are requested while graphql-js resolves a level, then calls the
 * upstream for all of them: one call per `maxSize` keys. A failed call only affects its own keys.
 */
export class Batch {
  readonly #mapping: TypeMapping;
  readonly #operation: Requesting;
  readonly #known = new Map<string, Promise<Fields | undefined>>();
  #waiting = new Map<string, { readonly key: unknown; readonly result: Waiting }>();

  constructor(mapping: TypeMapping, operation: Requesting) {
    this.#mapping = mapping;
    this.#operation = operation;
  }

  /** The upstream's fields for one key; undefined when it has none. Rejects when the call fails. */
  fieldsOf(key: unknown): Promise<Fields | undefined> {
    if (key === null || key === undefined) return Promise.resolve(undefined);
    if (key instanceof Error) return Promise.reject(new AccountError('UPSTREAM_BAD_RESPONSE', { cause: key }));
    const id = String(key);
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    // By the next turn of the event loop, all resolvers of this level and of windows that arrived together have run.
    if (this.#waiting.size === 0) setImmediate(() => this.#flush());
    const result = Promise.withResolvers<Fields | undefined>();
    this.#waiting.set(id, { key, result });
    this.#known.set(id, result.promise);
    return result.promise;
  }

  #flush(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (let from = 0; from < waiting.length; from += this.#mapping.maxSize) {
      const chunk = waiting.slice(from, from + this.#mapping.maxSize);
      this.#load(chunk.map(({ key }) => key)).then(
        (found) => {
          for (const { key, result } of chunk) result.resolve(found.get(String(key)));
        },
        (reason) => {
          for (const { result } of chunk) result.reject(reason);
        },
      );
    }
  }

  async #load(keys: readonly unknown[]): Promise<ReadonlyMap<string, Fields>> {
    const { connector, key, single } = this.#mapping;
    const variables = this.#operation.variables({ batch: keys.map((value) => ({ [key]: value })) });
    const data = await this.#operation.request(connector, variables);
    const found = new Map<string, Fields>();
    if (data === undefined) return found;
    const selected = connector.select(data, variables);
    // A call for one object may return it without its key.
    const rows = single ? withKey(selected, key, keys[0]) : selected;
    if (!Array.isArray(rows)) throw unusable(connector.source, 'the selection of a batch is not a list');
    for (const row of rows as (Fields | null)[]) {
      const id = row?.[key];
      if (row !== null && id !== null && !found.has(String(id))) found.set(String(id), row);
    }
    return found;
  }
}

/** The object, or the first of a list, as a row with the key that was asked for. */
function withKey(selected: unknown, key: string, value: unknown): readonly Fields[] {
  const row: unknown = Array.isArray(selected) ? selected[0] : selected;
  return row === null || row === undefined ? [] : [{ ...row, [key]: value }];
}
