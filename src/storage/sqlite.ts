import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { GatewayError } from '../errors.ts';
import type { Clock, Entry, Mutation, Store } from './store.ts';
import { REFERENCE_NAMES, unixSeconds } from './store.ts';

/** Bumped, with a migration, whenever the table changes. */
const SCHEMA_VERSION = 1;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entry (
    kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
    expires_at INTEGER, consumed_at INTEGER,
    ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT,
    PRIMARY KEY (kind, id)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
  ${REFERENCE_NAMES.map((name) => `CREATE INDEX IF NOT EXISTS entry_${name} ON entry (kind, ref_${name}) WHERE ref_${name} IS NOT NULL;`).join('\n')}
`;

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

/**
 * The embedded store on node:sqlite: write-ahead log, every commit synced to disk before it is acknowledged.
 * In: the file (made with its folder, readable by the owner only) and the clock.
 * Throws GatewayError `store_unavailable` when the file cannot be opened or was written by a newer version.
 */
export function sqliteStore(path: string, clock: Clock): Store {
  const database = attempt(() => open(path));
  const readable = 'kind = ? AND (expires_at IS NULL OR expires_at > ?)';
  const selectOne = database.prepare(`SELECT * FROM entry WHERE ${readable} AND id = ?`);
  const selectBy = Object.fromEntries(
    REFERENCE_NAMES.map((name) => [
      name,
      database.prepare(`SELECT * FROM entry WHERE ${readable} AND ref_${name} = ? LIMIT ?`),
    ]),
  );
  const put = database.prepare(`
    INSERT INTO entry (kind, id, payload, expires_at, ref_grant, ref_member, ref_client, ref_uid)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (kind, id) DO UPDATE SET payload = excluded.payload, expires_at = excluded.expires_at,
      ref_grant = excluded.ref_grant, ref_member = excluded.ref_member, ref_client = excluded.ref_client, ref_uid = excluded.ref_uid`);
  const consume = database.prepare(
    'UPDATE entry SET consumed_at = ? WHERE kind = ? AND id = ? AND consumed_at IS NULL AND (expires_at IS NULL OR expires_at > ?)',
  );
  const deleteOne = database.prepare('DELETE FROM entry WHERE kind = ? AND id = ?');
  const deleteBy = Object.fromEntries(
    REFERENCE_NAMES.map((name) => [name, database.prepare(`DELETE FROM entry WHERE kind = ? AND ref_${name} = ?`)]),
  );
  const sweep = database.prepare(
    'DELETE FROM entry WHERE (kind, id) IN (SELECT kind, id FROM entry WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?)',
  );

  /** Out: whether the mutation's guard held. */
  const apply = (mutation: Mutation): boolean => {
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

  return {
    async get(kind, id) {
      return attempt(() => toEntry(selectOne.get(kind, unixSeconds(clock), id)));
    },
    async findBy(kind, name, value, limit = -1) {
      return attempt(() =>
        (selectBy[name]?.all(kind, unixSeconds(clock), value, limit) ?? []).flatMap((row) => toEntry(row) ?? []),
      );
    },
    async commit(mutations) {
      return attempt(() => {
        database.exec('BEGIN IMMEDIATE');
        try {
          const held = mutations.every(apply);
          database.exec(held ? 'COMMIT' : 'ROLLBACK');
          return held;
        } catch (thrown) {
          if (database.isTransaction) database.exec('ROLLBACK');
          throw thrown;
        }
      });
    },
    async sweep(limit) {
      return attempt(() => Number(sweep.run(unixSeconds(clock), limit).changes));
    },
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

function open(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Made with its mode before SQLite sees it: the write-ahead files copy the mode of the main file.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version > SCHEMA_VERSION) {
    database.close();
    throw new Error(
      `the store was written by a newer version of coursegate (schema ${version}, this one knows ${SCHEMA_VERSION})`,
    );
  }
  database.exec(SCHEMA);
  database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  return database;
}

function columns(entry: Omit<Entry, 'consumedAt'>): SQLInputValue[] {
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

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw new GatewayError('store_unavailable', { cause: thrown });
  }
}
