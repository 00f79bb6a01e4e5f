import { type Limit, limitsOf, quotaFull } from '../quota.ts';
import type { StoredCharge } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import { type SqlDialect, type SqlRow, type SqlStatement, sql, upsert } from './session.ts';
import { byKeys, type EntryKey, inRows, type WrittenEntry } from './statements.ts';

/** What an entry counts for beside its payload. */
const ROW_BYTES = 1024;

const KEY = 'kind, id';
const COLUMNS = ['quota', 'network', 'wider', 'client', 'bytes'];
const LARGEST =
  "SELECT network, bytes FROM coursegate_quota WHERE quota = ? AND client = ? AND network <> '*' ORDER BY bytes DESC LIMIT 1";
const OLDEST =
  'SELECT c.* FROM coursegate_charge c JOIN coursegate_entry e ON e.kind = c.kind AND e.id = c.id WHERE c.quota = ?';
const TOTAL = 'FROM coursegate_quota WHERE quota = ? AND client = ? AND network = ?';

/** An entry as the totals count it. */
interface Counted extends Omit<StoredCharge, 'age'> {
  readonly bytes: number;
}

interface ChargeRow extends EntryKey, Counted {
  /** Undefined: that of the row that it overwrites, or the newest. */
  readonly age?: number;
}

/**
 * Runs what writes and removes entries, charges and releases them, and evicts others as the quotas say. Throws
 * GatewayError `too_many_requests` if a quota that evicts nothing is full.
 * @param released keys of entries that were charged before
 * @param charged entries that are charged now, which may be the same ones
 */
export type SettleQuotas = (
  run: SqlTransaction['run'],
  writes: readonly SqlStatement[],
  released: readonly EntryKey[],
  charged: readonly WrittenEntry[],
) => Promise<void>;

/**
 * Quotas by a table of totals. Its rows are locked in one order for all gates, and an entry to evict that another
 * transaction works on is passed over, so that charged commits wait for each other and do not deadlock.
 */
export function sqlQuotas(dialect: SqlDialect): SettleQuotas {
  const { given, withIdentity } = dialect;
  const insert = `INSERT INTO coursegate_charge (${KEY}, ${COLUMNS.join(', ')}, age) ${withIdentity}`;
  // `age` stays as it is: an overwritten entry keeps its place.
  const rewrite = upsert(dialect, KEY, Object.fromEntries(COLUMNS.map((column) => [column, given(column)])));
  const addUp = upsert(dialect, 'quota, client, network', { bytes: `coursegate_quota.bytes + ${given('bytes')}` });

  /** Changes the totals of every part that entries count towards. */
  const count = (entries: readonly Counted[]): readonly SqlStatement[] => {
    const parts = new Map<string, readonly [quota: string, client: string, network: string, bytes: number]>();
    for (const { quota, network, wider, client, bytes } of entries) {
      const counted = [...['*', network, wider].map((at) => ['*', at]), ...['*', wider].map((at) => [client, at])];
      for (const [of = '', at = ''] of counted) {
        const key = `${quota}\0${of}\0${at}`;
        parts.set(key, [quota, of, at, (parts.get(key)?.[3] ?? 0) + bytes]);
      }
    }
    const rows = [...parts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    const less = rows.filter(([, , , bytes]) => bytes < 0);
    return [
      ...inRows('INSERT INTO coursegate_quota (quota, client, network, bytes) VALUES', rows, addUp),
      ...less.map(([quota, client, network]) => sql(`DELETE ${TOTAL} AND bytes <= 0`, quota, client, network)),
    ];
  };
  const release = (rows: readonly SqlRow[]) =>
    count(rows.map((row) => ({ ...(row as unknown as Counted), bytes: -Number(row.bytes) })));

  /** Removes the entry that a part over its limit has to lose. Returns whether there was one. */
  const evict = async (run: SqlTransaction['run'], quota: string, { client, network, large }: Limit) => {
    const [[most] = []] = large === undefined ? [] : await run(sql(LARGEST, quota, client));
    const from = Number(most?.bytes ?? 0) > (large ?? 0) ? String(most?.network) : network;
    // The largest part may be a network, if its wider network holds the same entries.
    const parts = from === '*' ? [''] : client === '*' ? ['network', 'wider'] : ['wider'];
    const searches = parts.map((part) =>
      sql(
        `${OLDEST}${client === '*' ? '' : ' AND c.client = ?'}${part && ` AND c.${part} = ?`} ORDER BY c.age LIMIT 1 FOR UPDATE SKIP LOCKED`,
        ...[quota, ...(client === '*' ? [] : [client]), ...(part === '' ? [] : [from])],
      ),
    );
    const [oldest] = (await run(...searches)).flat();
    if (oldest === undefined) return false;
    const key = [oldest as unknown as EntryKey];
    await run(
      ...byKeys('DELETE FROM coursegate_entry', key, ''),
      ...byKeys('DELETE FROM coursegate_charge', key, ''),
      ...release([oldest]),
    );
    return true;
  };

  const isOver = ({ most }: Limit, rows: readonly SqlRow[] | undefined) => Number(rows?.[0]?.bytes ?? 0) > most;

  return async (run, writes, released, charged) => {
    const before = (await run(...byKeys('SELECT * FROM coursegate_charge', released, 'FOR UPDATE'))).flat();
    const now = charged.flatMap(({ kind, id, payload, charge }): ChargeRow[] => {
      if (charge === undefined) return [];
      const quota = typeof charge.quota === 'string' ? charge.quota : charge.quota.name;
      return [{ kind, id, ...charge, quota, bytes: Buffer.byteLength(payload) + ROW_BYTES }];
    });
    // An entry that is restored gets another age, which a row cannot be given.
    const kept = now.filter(({ age }) => age === undefined);
    const gone = released.filter((key) => !kept.some(({ kind, id }) => kind === key.kind && id === key.id));
    const rows = now.map(({ kind, id, quota, network, wider, client, bytes, age }) => [
      ...[kind, id, quota, network, wider, client, bytes, age],
    ]);
    await run(
      ...writes,
      ...byKeys('DELETE FROM coursegate_charge', gone, ''),
      ...inRows(`${insert} VALUES`, rows, rewrite),
      ...release(before),
      ...count(now),
    );
    // Entries of one sender, of which a commit may have many, have the same limits.
    const limits = new Map(
      charged.flatMap(({ charge }) => {
        if (charge === undefined || 'age' in charge) return [];
        const { quota } = charge;
        return limitsOf(charge).map((limit) => {
          const total = sql(`SELECT bytes ${TOTAL}`, quota.name, limit.client, limit.network);
          return [String(total.values), { quota, limit, total }] as const;
        });
      }),
    );
    const held = await run(...[...limits.values()].map(({ total }) => total));
    for (const [at, { quota, limit, total }] of [...limits.values()].entries()) {
      if (!isOver(limit, held[at])) continue;
      if (quota.whenFull === 'refuse') throw quotaFull();
      while (isOver(limit, (await run(total))[0]) && (await evict(run, quota.name, limit))) {}
    }
  };
}
