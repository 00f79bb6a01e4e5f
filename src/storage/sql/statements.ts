import { type Entry, entryOf, NEVER, type NewEntry, REFERENCE_NAMES, type ReferenceName } from '../store.ts';
import { type SqlDialect, type SqlRow, type SqlStatement, type SqlValue, sql } from './session.ts';

/** Rows of one statement. More are written by several. */
const BATCH = 50;

const REFERENCES = REFERENCE_NAMES.map((name) => `ref_${name}`);
const COLUMNS = ['kind', 'id', 'payload', 'revision', 'expires_at', 'consumed_at', ...REFERENCES, 'charged'];

export interface EntryKey {
  readonly kind: string;
  readonly id: string;
}

/** A stored entry without its payload. */
export interface StoredEntry extends Omit<Entry, 'payload'> {
  /** Whether it counts towards a quota. */
  readonly charged: boolean;
}

/** What is to be stored of an entry. */
export interface WrittenEntry extends StoredEntry, Pick<NewEntry, 'payload' | 'charge'> {}

/** All statements on the table of entries. Each reads by the primary key, or by an index that begins with its conditions. */
export function entryStatements({ upsert, given }: SqlDialect) {
  const insert = `INSERT INTO coursegate_entry (${COLUMNS.join(', ')}) VALUES`;
  const overwrite = upsert(
    ['kind', 'id'],
    Object.fromEntries(COLUMNS.slice(2).map((column) => [column, given(column)])),
  );
  const guards = ['kind', 'id', 'revision', 'expires_at', 'consumed_at', ...REFERENCES, 'charged'].join(', ');

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
    scan: (kind: string, after: string, limit: number) =>
      sql('SELECT * FROM coursegate_entry WHERE kind = ? AND id > ? ORDER BY id LIMIT ?', kind, after, String(limit)),
    kindAfter: (kind: string) => sql('SELECT kind FROM coursegate_entry WHERE kind > ? ORDER BY kind LIMIT 1', kind),
    /** Counts at most `limit` entries. */
    countUpTo: (kind: string | undefined, limit: number) =>
      sql(
        `SELECT COUNT(*) AS count FROM (SELECT 1 FROM coursegate_entry WHERE kind ${kind === undefined ? '>' : '='} ? LIMIT ?) AS counted`,
        ...[kind ?? '', String(limit)],
      ),
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

/** Statements that insert these rows. */
export function inRows(start: string, rows: readonly (readonly SqlValue[])[], end: string): readonly SqlStatement[] {
  return batches(rows).map((some) => {
    const places = some.map((row) => `(${row.map(() => '?').join(', ')})`);
    return sql(`${start} ${places.join(', ')} ${end}`, ...some.flat());
  });
}

function batches<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, at) => all.slice(at * BATCH, (at + 1) * BATCH));
}

function toRow(entry: WrittenEntry): readonly SqlValue[] {
  const { kind, id, payload, revision, expiresAt = NEVER, consumedAt = null, references, charge } = entry;
  const named = REFERENCE_NAMES.map((name) => references[name] ?? null);
  return [kind, id, Buffer.from(payload), revision, expiresAt, consumedAt, ...named, charge === undefined ? 0 : 1];
}

/** A row without its payload. */
export function toStored(row: SqlRow): StoredEntry {
  const { payload: _, ...stored } = entryOf(row);
  return { ...stored, charged: Number(row.charged) === 1 };
}
