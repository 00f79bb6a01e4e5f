import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { type NewEntry, REFERENCE_NAMES, type ReferenceName, type StoredEntry } from '../store.ts';
import { REFERENCE_COLUMNS, referenceValues } from '../table.ts';

/** The prepared statements of the store, on the `entry` table of schema.ts. */
export function prepareStatements(database: DatabaseSync) {
  const readable = 'kind = ? AND (expires_at IS NULL OR expires_at > ?)';
  // Without INDEXED BY, SQLite uses the key by `kind` alone, and reads every token to find those of one grant.
  const byReference = (sql: (table: string, column: string) => string) =>
    Object.fromEntries(
      REFERENCE_NAMES.map((name) => [name, database.prepare(sql(`entry INDEXED BY entry_${name}`, `ref_${name}`))]),
    ) as Readonly<Record<ReferenceName, StatementSync>>;

  return {
    selectOne: database.prepare(`SELECT * FROM entry WHERE ${readable} AND id = ?`),
    selectBy: byReference((table, column) => `SELECT * FROM ${table} WHERE ${readable} AND ${column} = ? LIMIT ?`),
    countBy: byReference((table, column) => `SELECT COUNT(*) AS count FROM ${table} WHERE kind = ? AND ${column} = ?`),
    deleteBy: byReference((table, column) => `DELETE FROM ${table} WHERE kind = ? AND ${column} = ?`),
    put: database.prepare(`
      ${insertOf(COLUMNS)}
      ON CONFLICT (kind, id) DO UPDATE SET revision = revision + 1, ${COLUMNS.slice(2)
        .map((column) => `${column} = excluded.${column}`)
        .join(', ')}`),
    /** Its parameters: those of `put`, then the others. */
    restore: database.prepare(insertOf([...COLUMNS, 'consumed_at', 'revision', 'rowid'])),
    // Its parameters: those of `put`, the revision, and the time.
    update: database.prepare(`
      UPDATE entry SET revision = revision + 1, ${COLUMNS.slice(2)
        .map((column, at) => `${column} = ?${at + 3}`)
        .join(', ')}
      WHERE kind = ?1 AND id = ?2 AND revision = ?${COLUMNS.length + 1} AND consumed_at IS NULL
        AND (expires_at IS NULL OR expires_at > ?${COLUMNS.length + 2})`),
    consume: database.prepare(
      'UPDATE entry SET consumed_at = ? WHERE kind = ? AND id = ? AND consumed_at IS NULL AND (expires_at IS NULL OR expires_at > ?)',
    ),
    replace: database.prepare('UPDATE entry SET payload = ? WHERE kind = ? AND id = ? AND payload = ?'),
    deleteOne: database.prepare('DELETE FROM entry WHERE kind = ? AND id = ?'),
    rowsAfter: database.prepare(
      'SELECT *, by_network AS network, by_wider AS wider, by_client AS client, rowid AS age FROM entry INDEXED BY entry_key WHERE kind = ? AND id > ? ORDER BY id LIMIT ?',
    ),
    kindAfter: database.prepare('SELECT kind FROM entry INDEXED BY entry_key WHERE kind > ? ORDER BY kind LIMIT 1'),
    countAll: database.prepare('SELECT COUNT(*) AS count FROM entry INDEXED BY entry_key'),
    countKind: database.prepare('SELECT COUNT(*) AS count FROM entry INDEXED BY entry_key WHERE kind = ?'),
    sweep: database.prepare(
      'DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT ?)',
    ),
  };
}

export type Statements = ReturnType<typeof prepareStatements>;

const COLUMNS = [
  'kind',
  'id',
  'payload',
  'expires_at',
  ...REFERENCE_COLUMNS,
  'quota',
  'by_network',
  'by_wider',
  'by_client',
];

function insertOf(columns: readonly string[]): string {
  return `INSERT INTO entry (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

/** The values of an entry, in the order of COLUMNS. */
export function toRow({ kind, id, payload, expiresAt, references, charge }: NewEntry | StoredEntry): SQLInputValue[] {
  const quota = typeof charge?.quota === 'object' ? charge.quota.name : charge?.quota;
  const charged = [quota, charge?.network, charge?.wider, charge?.client].map((value) => value ?? null);
  return [kind, id, payload, expiresAt ?? null, ...referenceValues(references), ...charged];
}
