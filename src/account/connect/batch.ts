import { AccountError } from '../errors.ts';
import type { Connector } from './connector.ts';
import type { VariableValues } from './evaluate.ts';
import { evaluated } from './evaluated.ts';
import type { TypeMapping } from './mapping.ts';
import { unusable } from './window.ts';

type Fields = Readonly<Record<string, unknown>>;
type Waiting = ReturnType<typeof Promise.withResolvers<Fields | undefined>>;

/** The part of an operation that a batch uses. */
interface Asking {
  scope(variables: VariableValues): VariableValues;
  ask(connector: Connector, scope: VariableValues): Promise<unknown>;
}

/**
 * Collects the objects of one type whose batched fields are requested while graphql-js resolves a level, then calls the
 * upstream for all of them: one call per `maxSize` keys. A failed call only affects its own keys.
 */
export class Batch {
  readonly #mapping: TypeMapping;
  readonly #operation: Asking;
  readonly #known = new Map<string, Promise<Fields | undefined>>();
  #waiting = new Map<string, { readonly key: unknown; readonly result: Waiting }>();

  constructor(mapping: TypeMapping, operation: Asking) {
    this.#mapping = mapping;
    this.#operation = operation;
  }

  /** The upstream's fields for one key; undefined when it has none. Rejects with AccountError when the call fails. */
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
    const scope = this.#operation.scope({ batch: keys.map((value) => ({ [key]: value })) });
    const answer = await this.#operation.ask(connector, scope);
    const found = new Map<string, Fields>();
    if (answer === undefined) return found;
    const selected = evaluated(() => connector.select(answer, scope));
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
