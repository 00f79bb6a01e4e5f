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
export function createBatch({ connector, key: name, maxSize, single }: TypeMapping, operation: Requesting) {
  const known = new Map<string, Promise<Fields | undefined>>();
  let waiting: { readonly key: unknown; readonly result: Waiting }[] = [];
  const flush = (): void => {
    const all = waiting;
    waiting = [];
    for (let from = 0; from < all.length; from += maxSize) {
      const chunk = all.slice(from, from + maxSize);
      load(chunk.map(({ key }) => key)).then(
        (found) => {
          for (const { key, result } of chunk) result.resolve(found.get(String(key)));
        },
        (reason) => {
          for (const { result } of chunk) result.reject(reason);
        },
      );
    }
  };
  const load = async (keys: readonly unknown[]): Promise<ReadonlyMap<string, Fields>> => {
    const variables = operation.variables({ batch: keys.map((value) => ({ [name]: value })) });
    const data = await operation.request(connector, variables);
    const found = new Map<string, Fields>();
    if (data === undefined) return found;
    const selected = connector.select(data, variables);
    // A call for one object may return it without its key.
    const rows = single ? withKey(selected, name, keys[0]) : selected;
    if (!Array.isArray(rows)) throw unusable(connector.source, 'the selection of a batch is not a list');
    for (const row of rows as (Fields | null)[]) {
      const id = row?.[name];
      if (row !== null && id !== null && !found.has(String(id))) found.set(String(id), row);
    }
    return found;
  };
  return {
    /** The upstream's fields for one key; undefined when it has none. Rejects when the call fails. */
    fieldsOf(key: unknown): Promise<Fields | undefined> {
      if (key === null || key === undefined) return Promise.resolve(undefined);
      if (key instanceof Error) return Promise.reject(new AccountError('UPSTREAM_BAD_RESPONSE', { cause: key }));
      const before = known.get(String(key));
      if (before !== undefined) return before;
      // By the next turn of the event loop, all resolvers of this level and of windows that arrived together have run.
      if (waiting.length === 0) setImmediate(flush);
      const result = Promise.withResolvers<Fields | undefined>();
      waiting.push({ key, result });
      known.set(String(key), result.promise);
      return result.promise;
    },
  };
}

/** The object, or the first of a list, as a row with the key that was asked for. */
function withKey(selected: unknown, key: string, value: unknown): readonly Fields[] {
  const row: unknown = Array.isArray(selected) ? selected[0] : selected;
  return row === null || row === undefined ? [] : [{ ...row, [key]: value }];
}
