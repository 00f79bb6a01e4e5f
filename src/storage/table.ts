// Entries as rows: how stores name their fields, and how they are scanned in an SQL table.

import {
  isAlive,
  REFERENCE_NAMES,
  type ReferenceName,
  type References,
  type Scanned,
  type StoredEntry,
} from './store.ts';

type Row = Readonly<Record<string, unknown>>;

/** The expiry of an entry that never expires, in a table in which every row has one. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** The columns of the references, in the order of `referenceValues`. */
export const REFERENCE_COLUMNS = REFERENCE_NAMES.map((name) => `ref_${name}`);

export function referenceValues(references: References): (string | null)[] {
  return REFERENCE_NAMES.map((name) => references[name] ?? null);
}

/** The entry in a row. It has a charge if the row has its `age`. */
export function entryOf(row: Row): StoredEntry {
  const { quota, network, wider, client, age } = row;
  const references: Partial<Record<ReferenceName, string>> = {};
  for (const name of REFERENCE_NAMES) {
    const value = row[`ref_${name}`];
    if (value !== null) references[name] = String(value);
  }
  const expiresAt = Number(row.expires_at ?? NEVER);
  return {
    kind: String(row.kind),
    id: String(row.id),
    payload: String(row.payload),
    expiresAt: expiresAt === NEVER ? undefined : expiresAt,
    consumedAt: row.consumed_at === null ? undefined : Number(row.consumed_at),
    revision: Number(row.revision),
    references,
    charge:
      typeof quota === 'string' && age !== undefined
        ? { quota, network: String(network), wider: String(wider), client: String(client), age: Number(age) }
        : undefined,
  };
}

/** The rows of a table, by kind and id. */
export interface TableRows {
  /** The first kind after this one. */
  readonly kindAfter: (kind: string) => Awaitable<string | undefined>;
  /** At most `limit` rows of one kind, after this id. */
  readonly rowsAfter: (kind: string, id: string, limit: number) => Awaitable<readonly Row[]>;
  /** How many there are of the kinds that are scanned. */
  readonly count: () => Awaitable<number>;
}

type Awaitable<T> = T | Promise<T>;

/** One step of a scan, which goes through the kinds one by one. See Store. `now` is in Unix seconds. */
export async function scanTable(
  { kindAfter, rowsAfter, count }: TableRows,
  kinds: readonly string[] | undefined,
  from: string | undefined,
  limit: number,
  now: number,
): Promise<Scanned<StoredEntry>> {
  const sorted = kinds?.toSorted();
  const next = (last: string) => (sorted === undefined ? kindAfter(last) : sorted.find((kind) => kind > last));
  let [kind, after = ''] = from?.split('\0') ?? [];
  if (kind === undefined || sorted?.includes(kind) === false) [kind, after] = [await next(kind ?? ''), ''];
  const rows: Row[] = [];
  while (kind !== undefined) {
    rows.push(...(await rowsAfter(kind, after, limit - rows.length)));
    if (rows.length === limit) break;
    [kind, after] = [await next(kind), ''];
  }
  return {
    entries: rows.map(entryOf).filter((entry) => isAlive(entry, now)),
    next: kind && `${kind}\0${rows.at(-1)?.id}`,
    looked: rows.length,
    total: from === undefined ? await count() : undefined,
  };
}
