import type { DatabaseSync } from 'node:sqlite';
import { type Clock, entryOf, type Mutation, type RawStore, type Replacement, unixSeconds } from '../store.ts';
import { CHECK_LIMITS } from './check.ts';
import { type OpenDatabase, openDatabase } from './file.ts';
import { StoreHealth } from './health.ts';
import { sqliteQuotas } from './quotas.ts';
import { SqliteSpace } from './space.ts';
import { prepareStatements, type Statements, toRow } from './statements.ts';
import { Durability, takeOverSync, type WriteAheadLog } from './sync.ts';

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
  const space = new SqliteSpace(opened.database, path);
  return storeOn({ ...opened, space, log: takeOverSync(opened.database, path) }, clock);
}

/** What a store on SQLite is made of. */
interface SqliteParts extends OpenDatabase {
  readonly space: Pick<SqliteSpace, 'write' | 'compact'>;
  readonly log: WriteAheadLog;
}

/** A store on an open database, in a file or in memory. */
export function storeOn({ database, check, unlock, space, log }: SqliteParts, clock: Clock): RawStore {
  const health = new StoreHealth();
  const durability = new Durability(() => health.sync(log.sync));
  let closed = false;
  void check.found.then((damage) => damage && health.condemn(damage));
  const statements = prepareStatements(database);
  const makeRoom = sqliteQuotas(database);

  // No other gate writes to the file. A backup tool that holds its lock for a moment must not fail a request.
  database.exec('PRAGMA busy_timeout = 50');

  return {
    async get(kind, id) {
      const row = health.read(() => statements.selectOne.get(kind, unixSeconds(clock), id));
      const unsynced = durability.entry(kind, id);
      if (unsynced !== undefined) await unsynced;
      return row && entryOf(row);
    },
    async findBy(kind, name, value, limit = -1) {
      const entries = health.read(() =>
        statements.selectBy[name].all(kind, unixSeconds(clock), value, limit).map(entryOf),
      );
      await durability.all();
      return entries;
    },
    async count(kind, name, value) {
      const count = health.read(() => Number(statements.countBy[name].get(kind, value)?.count));
      await durability.all();
      return count;
    },
    async scan(kind, from, limit) {
      const scanned = health.read(() => {
        const [afterKind = '', afterId = ''] = from?.split('\0') ?? [];
        const { scanAll, scanKind, countAll, countKind } = statements;
        const total = () => (kind === undefined ? countAll.get() : countKind.get(kind));
        const rows = kind === undefined ? scanAll.all(afterKind, afterId, limit) : scanKind.all(kind, afterId, limit);
        const last = rows.at(-1);
        const now = unixSeconds(clock);
        return {
          entries: rows.map(entryOf).filter(({ expiresAt }) => (expiresAt ?? now + 1) > now),
          next: rows.length < limit || last === undefined ? undefined : `${last.kind}\0${last.id}`,
          looked: rows.length,
          total: from === undefined ? Number(total()?.count) : undefined,
        };
      });
      await durability.all();
      return scanned;
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
      await (committed ? durability.committed(mutations) : durability.all());
      return committed;
    },
    async sweep(limit) {
      const swept = health.write(() =>
        space.write('vital', () => Number(statements.sweep.run(unixSeconds(clock), limit).changes)),
      );
      if (swept > 0) await durability.committed([]);
      return swept;
    },
    async compact(limit) {
      return health.write(() => space.compact(limit));
    },
    async close() {
      if (closed) return;
      closed = true;
      await check.stop();
      await durability.all()?.catch(() => {});
      database.close();
      log.close();
      unlock();
    },
  };
}

/** Returns whether the mutation's guard held. */
function apply(statements: Statements, mutation: Mutation | Replacement, now: number): boolean {
  const { selectOne, deleteOne, deleteBy, put, update, replace, consume } = statements;
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

/** Commits what `work` did, or rolls it back if it returns false or throws. */
function transaction(database: DatabaseSync, work: () => boolean): boolean {
  database.exec('BEGIN IMMEDIATE');
  try {
    const held = work();
    database.exec(held ? 'COMMIT' : 'ROLLBACK');
    return held;
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}
