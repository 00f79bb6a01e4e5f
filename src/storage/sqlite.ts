import type { SQLInputValue } from 'node:sqlite';
import { CHECK_LIMITS } from './sqlite-check.ts';
import { openDatabase } from './sqlite-file.ts';
import { StoreHealth } from './sqlite-health.ts';
import { sqliteQuotas } from './sqlite-quota.ts';
import { SqliteSpace } from './sqlite-space.ts';
import type { Clock, Entry, Mutation, NewEntry, RawStore, ReferenceName, Replacement } from './store.ts';
import { REFERENCE_NAMES, unixSeconds } from './store.ts';
import { takingTurns } from './turns.ts';

interface Row {
  kind: string;
  id: string;
  payload: string;
  expires_at: number | null;
  consumed_at: number | null;
  ref_grant: string | null;
  ref_member: string | null;
  ref_client: string | null;
  ref_uid: string | null;
}

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
  const { database, check, unlock } = openDatabase(path, limits);
  const health = new StoreHealth();
  const reading = takingTurns({ queued: false });
  const writing = takingTurns({ queued: true });
  let closed = false;
  void check.found.then((damage) => damage && health.condemn(damage));
  const readable = 'kind = ? AND (expires_at IS NULL OR expires_at > ?)';
  const selectOne = database.prepare(`SELECT * FROM entry WHERE ${readable} AND id = ?`);
  // Without INDEXED BY, SQLite uses the key by `kind` alone, and reads every token to find those of one grant.
  const entriesBy = (name: ReferenceName) => `entry INDEXED BY entry_${name}`;
  const selectBy = Object.fromEntries(
    REFERENCE_NAMES.map((name) => [
      name,
      database.prepare(`SELECT * FROM ${entriesBy(name)} WHERE ${readable} AND ref_${name} = ? LIMIT ?`),
    ]),
  );
  const countBy = Object.fromEntries(
    REFERENCE_NAMES.map((name) => [
      name,
      database.prepare(`SELECT COUNT(*) AS count FROM ${entriesBy(name)} WHERE kind = ? AND ref_${name} = ?`),
    ]),
  );
  const put = database.prepare(`
    INSERT INTO entry (kind, id, payload, expires_at, ref_grant, ref_member, ref_client, ref_uid, quota, by_network, by_client)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
      ref_grant = excluded.ref_grant, ref_member = excluded.ref_member, ref_client = excluded.ref_client, ref_uid = excluded.ref_uid,
      quota = excluded.quota, by_network = excluded.by_network, by_client = excluded.by_client`);
  const consume = database.prepare(
    'UPDATE entry SET consumed_at = ? WHERE kind = ? AND id = ? AND consumed_at IS NULL AND (expires_at IS NULL OR expires_at > ?)',
  );
  const replace = database.prepare('UPDATE entry SET payload = ? WHERE kind = ? AND id = ? AND payload = ?');
  const walk = {
    one: database.prepare(`SELECT * FROM entry INDEXED BY entry_key WHERE kind = ? AND id > ? ORDER BY id LIMIT ?`),
    all: database.prepare(
      'SELECT * FROM entry INDEXED BY entry_key WHERE (kind, id) > (?, ?) ORDER BY kind, id LIMIT ?',
    ),
    count: database.prepare('SELECT COUNT(*) AS count FROM entry WHERE ?1 IS NULL OR kind = ?1'),
  };
  const deleteOne = database.prepare('DELETE FROM entry WHERE kind = ? AND id = ?');
  const deleteBy = Object.fromEntries(
    REFERENCE_NAMES.map((name) => [
      name,
      database.prepare(`DELETE FROM ${entriesBy(name)} WHERE kind = ? AND ref_${name} = ?`),
    ]),
  );
  const sweep = database.prepare(
    'DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?)',
  );

  const makeRoom = sqliteQuotas(database);
  const space = new SqliteSpace(database, path);

  // From here on, calls that find the file busy retry without blocking (turns.ts).
  database.exec('PRAGMA busy_timeout = 0');

  /** Returns whether the mutation's guard held. */
  const apply = (mutation: Mutation | Replacement): boolean => {
    const now = unixSeconds(clock);
    switch (mutation.op) {
      case 'create':
        if (selectOne.get(mutation.entry.kind, now, mutation.entry.id) !== undefined) return false;
        deleteOne.run(mutation.entry.kind, mutation.entry.id);
        put.run(...columns(mutation.entry));
        return true;
      case 'put':
        put.run(...columns(mutation.entry));
        return true;
      case 'replace':
        replace.run(mutation.payload, mutation.kind, mutation.id, mutation.was);
        return true;
      case 'consume':
        return consume.run(now, mutation.kind, mutation.id, now).changes === 1;
      case 'delete':
        deleteOne.run(mutation.kind, mutation.id);
        return true;
      case 'deleteBy':
        deleteBy[mutation.name]?.run(mutation.kind, mutation.value);
        return true;
    }
  };

  /** Commits what `work` did, or rolls it back if it returns false or throws. */
  const transaction = (work: () => boolean): boolean => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const held = work();
      database.exec(held ? 'COMMIT' : 'ROLLBACK');
      return held;
    } catch (thrown) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw thrown;
    }
  };

  return {
    async get(kind, id) {
      return reading(() => health.read(() => toEntry(selectOne.get(kind, unixSeconds(clock), id))));
    },
    async findBy(kind, name, value, limit = -1) {
      return reading(() =>
        health.read(() =>
          (selectBy[name]?.all(kind, unixSeconds(clock), value, limit) ?? []).flatMap((row) => toEntry(row) ?? []),
        ),
      );
    },
    async count(kind, name, value) {
      return health.read(() => Number(countBy[name]?.get(kind, value)?.count ?? 0));
    },
    async scan(kind, from, limit) {
      return health.read(() => {
        const [afterKind = '', afterId = ''] = from?.split('\0') ?? [];
        const rows = kind === undefined ? walk.all.all(afterKind, afterId, limit) : walk.one.all(kind, afterId, limit);
        const last = rows.at(-1) as Row | undefined;
        const now = unixSeconds(clock);
        return {
          entries: rows.flatMap((row) => toEntry(row) ?? []).filter(({ expiresAt }) => (expiresAt ?? now + 1) > now),
          next: rows.length < limit || last === undefined ? undefined : `${last.kind}\0${last.id}`,
          looked: rows.length,
          total: from === undefined ? Number(walk.count.get(kind ?? null)?.count) : undefined,
        };
      });
    },
    async commit(mutations, priority = 'ordinary') {
      const charges = mutations.flatMap((mutation) => ('entry' in mutation ? (mutation.entry.charge ?? []) : []));
      const writer = charges.length > 0 ? 'stranger' : priority;
      return writing(() =>
        health.write(() =>
          space.write(writer, (begin) =>
            transaction(() => {
              begin();
              // A charged commit also deletes expired entries: the sweep alone might not keep up with an attack.
              if (charges.length > 0) sweep.run(unixSeconds(clock), CLEARED_UP);
              const held = mutations.every(apply);
              if (held) for (const charge of charges) makeRoom(charge);
              return held;
            }),
          ),
        ),
      );
    },
    async sweep(limit) {
      return writing(() =>
        health.write(() => space.write('vital', () => Number(sweep.run(unixSeconds(clock), limit).changes))),
      );
    },
    async compact(limit) {
      return writing(() => health.write(() => space.compact(limit)));
    },
    async close() {
      if (closed) return;
      closed = true;
      await check.stop();
      database.close();
      unlock();
    },
  };
}

function columns(entry: NewEntry): SQLInputValue[] {
  const { grant, member, client, uid } = entry.references;
  return [
    entry.kind,
    entry.id,
    entry.payload,
    entry.expiresAt ?? null,
    grant ?? null,
    member ?? null,
    client ?? null,
    uid ?? null,
    entry.charge?.quota.name ?? null,
    entry.charge?.network ?? null,
    entry.charge?.client ?? null,
  ];
}

function toEntry(row: unknown): Entry | undefined {
  if (row === undefined) return undefined;
  const found = row as Row;
  const references = { grant: found.ref_grant, member: found.ref_member, client: found.ref_client, uid: found.ref_uid };
  return {
    kind: found.kind,
    id: found.id,
    payload: found.payload,
    expiresAt: found.expires_at ?? undefined,
    consumedAt: found.consumed_at ?? undefined,
    references: Object.fromEntries(Object.entries(references).filter(([, value]) => value !== null)),
  };
}
