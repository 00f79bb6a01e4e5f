import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as immediate } from 'node:timers/promises';
import { inTime } from '../patience.ts';
import { type Clock, type Entry, isAlive, type RawStore, unixSeconds } from '../store.ts';
import { entryOf, scanTable, type TableRows } from '../table.ts';
import { type SqlDatabase, type SqlTransaction, unavailable } from './database.ts';
import { keysOf, planCommit } from './plan.ts';
import { sqlQuotas } from './quotas.ts';
import type { SqlStatement } from './session.ts';
import { type EntryKey, entryStatements, toHeld } from './statements.ts';

/** Entries that are counted one by one. Of a larger store, the total is only known to be as large. */
const COUNTED = 200_000;
const ALL = 1_000_000_000;

/**
 * The store in a database server, which several replicas share. A commit locks what it names, decides, and writes, in
 * one transaction. While the server is down or hangs, calls throw GatewayError `store_unavailable` within a second.
 * `priority` has no meaning here: how full the server's disk is, it does not say.
 */
export function sqlStore(database: SqlDatabase, clock: Clock): RawStore {
  const statements = entryStatements(database.dialect);
  const settleQuotas = sqlQuotas(database.dialect);

  const lockAll = async (run: SqlTransaction['run'], mutations: Parameters<RawStore['commit']>[0]) => {
    const keys = statements.lock(keysOf(mutations));
    const searches = mutations.flatMap((mutation) =>
      mutation.op === 'deleteBy' ? [statements.lockBy(mutation.kind, mutation.name, mutation.value)] : [],
    );
    const named = (await run(...keys, ...searches)).slice(0, keys.length);
    // While this waited for locks, their holders may have added what the searches have to find.
    const found = searches.length === 0 ? [] : await run(...searches);
    return [...named, ...found].flat().map(toHeld);
  };

  const outside = AsyncLocalStorage.snapshot();
  let reading:
    | { readonly keys: Map<string, EntryKey>; readonly entries: Promise<ReadonlyMap<string, Entry>> }
    | undefined;
  /** Reads what is asked for in one turn of the event loop by one statement. It must not end with one of the requests. */
  const readTogether = () => {
    const keys = new Map<string, EntryKey>();
    const entries = outside(async () => {
      await immediate();
      reading = undefined;
      const found = await database.use((session) => session.run(...statements.get([...keys.values()])));
      return new Map(found.flat().map((row) => [`${row.kind}\0${row.id}`, entryOf(row)]));
    });
    // Each caller is told. None may be left to be told.
    entries.catch(() => {});
    return { keys, entries };
  };

  return {
    async get(kind, id) {
      reading ??= readTogether();
      const { keys, entries } = reading;
      keys.set(`${kind}\0${id}`, { kind, id });
      const found = await inTime(() => entries).catch((thrown) => {
        throw unavailable(thrown);
      });
      const entry = found.get(`${kind}\0${id}`);
      return entry && isAlive(entry, unixSeconds(clock)) ? entry : undefined;
    },
    async findBy(kind, name, value, limit = ALL) {
      const search = statements.findBy(kind, name, value, unixSeconds(clock), limit);
      return (await database.use((session) => session.run(search))).flat().map(entryOf);
    },
    async count(kind, name, value) {
      const search = statements.count(kind, name, value, unixSeconds(clock));
      const [[row] = []] = await database.use((session) => session.run(search));
      return Number(row?.count);
    },
    scan: (kinds, from, limit) =>
      database.use((session) => {
        const first = async (search: SqlStatement) => (await session.run(search))[0]?.[0];
        const rows: TableRows = {
          kindAfter: async (kind) => (await first(statements.kindAfter(kind)))?.kind as string | undefined,
          async rowsAfter(...after) {
            const [found = []] = await session.run(statements.rowsAfter(...after));
            const charged = found.filter((row) => Number(row.charged) === 1) as unknown as readonly EntryKey[];
            const charges = (await session.run(...statements.charges(charged))).flat();
            return found.map((row) => ({
              ...row,
              ...charges.find(({ kind, id }) => kind === row.kind && id === row.id),
            }));
          },
          count: async () => Number((await first(statements.countUpTo(kinds, COUNTED)))?.count),
        };
        return scanTable(rows, kinds, from, limit, unixSeconds(clock));
      }),
    async commit(mutations) {
      if (mutations.length === 0) return true;
      return database.transact(async ({ run, commit }) => {
        const plan = planCommit(mutations, await lockAll(run, mutations), unixSeconds(clock));
        if (plan === undefined) return false;
        const { inserted, overwritten, consumed, removed, released } = plan;
        const replaced = mutations.flatMap((mutation) =>
          mutation.op === 'replace' ? [statements.replace(mutation)] : [],
        );
        const writes = [
          ...statements.remove(removed),
          ...statements.overwrite(overwritten),
          ...statements.consume(consumed, unixSeconds(clock)),
          ...statements.insert(inserted),
          ...replaced,
        ];
        const charged = [...overwritten, ...inserted].filter(({ charge }) => charge !== undefined);
        if (released.length + charged.length === 0) await commit(...writes);
        else {
          await settleQuotas(run, writes, released, charged);
          await commit();
        }
        return true;
      });
    },
    sweep: (limit) =>
      database.transact(async ({ run, commit }) => {
        const [rows = []] = await run(statements.lockExpired(unixSeconds(clock), limit));
        const keys = rows as unknown as readonly EntryKey[];
        const charged = keys.filter((_, at) => Number(rows[at]?.charged) === 1);
        if (charged.length > 0) await settleQuotas(run, [], charged, []);
        await commit(...statements.remove(keys));
        return rows.length;
      }),
    // The server reuses the space of deleted rows itself.
    compact: async () => 0,
    async close() {
      database.close();
    },
  };
}
