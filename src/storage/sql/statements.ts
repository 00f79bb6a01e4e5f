import type { Entry, NewEntry, ReferenceName, Restoration } from '../store.ts';
import { entryOf, NEVER, REFERENCE_COLUMNS, referenceValues } from '../table.ts';
import { type SqlDialect, type SqlRow, type SqlStatement, type SqlValue, sql, upsert } from './session.ts';

/** Rows of one statement. More are written by several. */
const BATCH = 50;

const COLUMNS = ['kind', 'id', 'payload', 'revision', 'expires_at', 'consumed_at', ...REFERENCE_COLUMNS, 'charged'];

export interface EntryKey {
  readonly kind: string;
  readonly id: string;
}

/** What a commit reads of a stored entry. */
export interface HeldEntry extends Omit<Entry, 'payload'> {
  /** Whether it counts towards a quota. */
  readonly charged: boolean;
}

/** What is to be stored of an entry. */
export interface WrittenEntry extends HeldEntry, Pick<NewEntry, 'payload'> {
  readonly charge?: NewEntry['charge'] | Restoration['charge'];
}

/** All statements on the table of entries. Each reads by the primary key, or by an index that begins with its conditions. */
export function entryStatements(dialect: SqlDialect) {
  const insert = `INSERT INTO coursegate_entry (${COLUMNS.join(', ')}) VALUES`;
  const all = Object.fromEntries(COLUMNS.slice(2).map((column) => [column, dialect.given(column)]));
  const overwrite = upsert(dialect, 'kind, id', all);
  const guards = ['kind', 'id', 'revision', 'expires_at', 'consumed_at', ...REFERENCE_COLUMNS, 'charged'].join(', ');

  return {
    get: (keys: readonly EntryKey[]) => byKeys('SELECT * FROM coursegate_entry', keys, ''),
    findBy: (kind: string, name: ReferenceName, value: string, now: number, limit: number) =>
      sql(
        `SELECT * FROM coursegate_entry WHERE kind = ? AND ref_${name} = ? AND expires_at > ? ORDER BY expires_at LIMIT ?`,
        ...[kind, value, now, String(limit)],
      ),
    count: (kind: string, name: ReferenceName, value: string, now: number) =>
      sql(
        `SELECT COUNT(*) AS count FROM coursegate_entry WHERE kind = ? AND ref_${name} = ? AND expires_at > ?`,
        ...[kind, value, now],
      ),
    rowsAfter: (kind: string, id: string, limit: number) =>
      sql('SELECT * FROM coursegate_entry WHERE kind = ? AND id > ? ORDER BY id LIMIT ?', kind, id, String(limit)),
    charges: (keys: readonly EntryKey[]) => byKeys('SELECT * FROM coursegate_charge', keys, ''),
    kindAfter: (kind: string) => sql('SELECT kind FROM coursegate_entry WHERE kind > ? ORDER BY kind LIMIT 1', kind),
    /** Counts at most `limit` entries. */
    countUpTo: (kinds: readonly string[] | undefined, limit: number) => {
      const which = kinds === undefined ? "kind > ''" : `kind IN (${kinds.map(() => '?').join(', ')})`;
      const some = `SELECT 1 FROM coursegate_entry WHERE ${which} LIMIT ?`;
      return sql(`SELECT COUNT(*) AS count FROM (${some}) AS counted`, ...(kinds ?? []), String(limit));
    },
    lock: (keys: readonly EntryKey[]) => byKeys(`SELECT ${guards} FROM coursegate_entry`, keys, 'FOR UPDATE'),
    lockBy: (kind: string, name: ReferenceName, value: string) =>
      sql(`SELECT ${guards} FROM coursegate_entry WHERE kind = ? AND ref_${name} = ? FOR UPDATE`, kind, value),
    lockExpired: (now: number, limit: number) =>
      sql(
        'SELECT kind, id, charged FROM coursegate_entry WHERE expires_at <= ? ORDER BY expires_at LIMIT ? FOR UPDATE SKIP LOCKED',
        ...[now, String(limit)],
      ),
    /** Fails if another transaction has inserted one of them since they were found to be absent. */
    insert: (entries: readonly WrittenEntry[]) => inRows(insert, entries.map(toRow), ''),
    overwrite: (entries: readonly WrittenEntry[]) => inRows(insert, entries.map(toRow), overwrite),
    consume: (keys: readonly EntryKey[], now: number) =>
      byKeys('UPDATE coursegate_entry SET consumed_at = ?', keys, '', now),
    replace: ({ kind, id, was, payload }: EntryKey & { readonly was: string; readonly payload: string }) =>
      sql(
        'UPDATE coursegate_entry SET payload = ? WHERE kind = ? AND id = ? AND payload = ?',
        ...[Buffer.from(payload), kind, id, Buffer.from(was)],
      ),
    remove: (keys: readonly EntryKey[]) => byKeys('DELETE FROM coursegate_entry', keys, ''),
  };
}

/** Statements on the rows with these keys. */
export function byKeys(
  start: string,
  keys: readonly EntryKey[],
  end: string,
  ...first: readonly SqlValue[]
): readonly SqlStatement[] {
  return batches(keys).map((some) =>
    sql(
      `${start} WHERE ${some.map(() => '(kind = ? AND id = ?)').join(' OR ')} ${end}`,
      ...first,
      ...some.flatMap(({ kind, id }) => [kind, id]),
    ),
  );
}

/** Statements that insert these rows. The database chooses what is undefined. */
export function inRows(
  start: string,
  rows: readonly (readonly (SqlValue | undefined)[])[],
  end: string,
): readonly SqlStatement[] {
  return batches(rows).map((some) => {
    const places = some.map((row) => `(${row.map((value) => (value === undefined ? 'DEFAULT' : '?')).join(', ')})`);
    const values = some.flat().filter((value) => value !== undefined);
    return sql(`${start} ${places.join(', ')} ${end}`, ...values);
  });
}

function batches<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, at) => all.slice(at * BATCH, (at + 1) * BATCH));
}

function toRow(entry: WrittenEntry): readonly SqlValue[] {
  const { kind, id, payload, revision, expiresAt = NEVER, consumedAt = null, references, charge } = entry;
  const key = [kind, id, Buffer.from(payload), revision, expiresAt, consumedAt];
  return [...key, ...referenceValues(references), charge === undefined ? 0 : 1];
}

/** A row without its payload. */
export function toHeld(row: SqlRow): HeldEntry {
  const { payload: _, ...held } = entryOf(row);
  return { ...held, charged: Number(row.charged) === 1 };
}
