import { type Clock, type RawMutation, type RawStore, unixSeconds } from '../store.ts';
import { entryOf, scanTable, type TableRows } from '../table.ts';
import { CHECK_LIMITS } from './check.ts';
import { type OpenDatabase, openDatabase } from './file.ts';
import { storeHealth } from './health.ts';
import { sqliteQuotas } from './quotas.ts';
import { transaction } from './schema.ts';
import { type SqliteSpace, sqliteSpace } from './space.ts';
import { prepareStatements, type Statements, toRow } from './statements.ts';
import { durability, takeOverSync, type WriteAheadLog } from './sync.ts';

/** Expired entries that a charged commit deletes as well. */
const CLEARED_UP = 8;
/**
 * The embedded store on node:sqlite: write-ahead log, every commit synced to disk before it is acknowledged. The file
 * is created together with its folder, readable by the owner only.
 * Throws StoreOpenError if the file is damaged, in use by another gate, owned by another program, written by a newer
 * version, or not accessible. Damage in a large file may be found only after startup: from then on every call fails
 * with `store_unavailable` (503).
 */
export function sqliteStore(path: string, clock: Clock, limits = CHECK_LIMITS): RawStore {
  const opened = openDatabase(path, limits);
  const space = sqliteSpace(opened.database, path);
  return storeOn({ ...opened, space, log: takeOverSync(opened.database, path) }, clock);
}

type SqliteParts = OpenDatabase & {
  readonly space: SqliteSpace;
  readonly log: WriteAheadLog;
};

/** A store on an open database, in a file or in memory. */
export function storeOn({ database, check, unlock, space, log }: SqliteParts, clock: Clock): RawStore {
  const health = storeHealth();
  const durable = durability(() => health.sync(log.sync));
  let closed = false;
  void check.found.then((damage) => damage && health.condemn(damage));
  const statements = prepareStatements(database);
  const makeRoom = sqliteQuotas(database);

  // No other gate writes to the file. A backup tool that holds its lock for a moment must not fail a request.
  database.exec('PRAGMA busy_timeout = 50');

  /** Reads what is durable when this resolves. */
  const read = async <T>(work: () => T): Promise<T> => {
    const found = health.read(work);
    await durable.all();
    return found;
  };

  return {
    async get(kind, id) {
      const row = health.read(() => statements.selectOne.get(kind, unixSeconds(clock), id));
      const unsynced = durable.entry(kind, id);
      if (unsynced !== undefined) await unsynced;
      return row && entryOf(row);
    },
    findBy: (kind, name, value, limit = -1) =>
      read(() => statements.selectBy[name].all(kind, unixSeconds(clock), value, limit).map(entryOf)),
    count: (kind, name, value) => read(() => Number(statements.countBy[name].get(kind, value)?.count)),
    scan(kinds, from, limit) {
      const { kindAfter, rowsAfter, countAll, countKind } = statements;
      const rows: TableRows = {
        kindAfter: (kind) => read(() => kindAfter.get(kind)?.kind as string | undefined),
        rowsAfter: (...after) => read(() => rowsAfter.all(...after)),
        count: () =>
          read(() => {
            const counts = kinds?.map((kind) => countKind.get(kind)) ?? [countAll.get()];
            return counts.reduce((sum, row) => sum + Number(row?.count), 0);
          }),
      };
      return scanTable(rows, kinds, from, limit, unixSeconds(clock));
    },
    async commit(mutations, priority = 'ordinary') {
      // Reads have waited for what they found.
      if (mutations.length === 0) return true;
      const charges = mutations.flatMap((mutation) => ('entry' in mutation ? (mutation.entry.charge ?? []) : []));
      const writer = charges.length > 0 ? 'stranger' : priority;
      const committed = health.write(() =>
        space.write(writer, (begin) =>
          transaction(database, () => {
            begin();
            // A charged commit also deletes expired entries: the sweep alone might not keep up with an attack.
            if (charges.length > 0) statements.sweep.run(unixSeconds(clock), CLEARED_UP);
            const held = mutations.every((mutation) => apply(statements, mutation, unixSeconds(clock)));
            if (held) for (const charge of charges) makeRoom(charge);
            return held;
          }),
        ),
      );
      // What made a guard fail may not be durable yet.
      await (committed ? durable.committed(mutations) : durable.all());
      return committed;
    },
    async sweep(limit) {
      const swept = health.write(() =>
        space.write('vital', () => Number(statements.sweep.run(unixSeconds(clock), limit).changes)),
      );
      if (swept > 0) await durable.committed([]);
      return swept;
    },
    async compact(limit) {
      return health.write(() => space.compact(limit));
    },
    async close() {
      if (closed) return;
      closed = true;
      await check.stop();
      await durable.all()?.catch(() => {});
      database.close();
      log.close();
      unlock();
    },
  };
}

/** Returns whether the mutation's guard held. */
function apply(statements: Statements, mutation: RawMutation, now: number): boolean {
  const { selectOne, deleteOne, deleteBy, put, update, replace, restore, consume } = statements;
  switch (mutation.op) {
    case 'create':
      if (selectOne.get(mutation.entry.kind, now, mutation.entry.id) !== undefined) return false;
      deleteOne.run(mutation.entry.kind, mutation.entry.id);
      put.run(...toRow(mutation.entry));
      return true;
    case 'put':
      put.run(...toRow(mutation.entry));
      return true;
    case 'update':
      return update.run(...toRow(mutation.entry), mutation.revision, now).changes === 1;
    case 'replace':
      replace.run(mutation.payload, mutation.kind, mutation.id, mutation.was);
      return true;
    case 'restore':
      deleteOne.run(mutation.kind, mutation.id);
      restore.run(
        ...toRow(mutation),
        mutation.consumedAt ?? null,
        mutation.revision,
        // Among entries of one quota, the lowest rowid is evicted first.
        mutation.charge?.age ?? null,
      );
      return true;
    case 'consume':
      return consume.run(now, mutation.kind, mutation.id, now).changes === 1;
    case 'delete':
      deleteOne.run(mutation.kind, mutation.id);
      return true;
    case 'deleteBy':
      deleteBy[mutation.name].run(mutation.kind, mutation.value);
      return true;
  }
}
