import type { DatabaseSync } from 'node:sqlite';
import { type Charge, type Limit, limitsOf, quotaFull } from '../quota.ts';

/** Enforces the quota of a charged entry. To be called in the transaction that has written it. */
export type MakeRoom = (charge: Charge) => void;

/**
 * Triggers maintain the totals (schema.ts) and indexes find the entries: no step reads more than it deletes.
 * Throws GatewayError `too_many_requests` if a quota that evicts nothing is full.
 */
export function sqliteQuotas(database: DatabaseSync): MakeRoom {
  const bytesOf = database.prepare('SELECT bytes FROM charged WHERE quota = ? AND client = ? AND network = ?');
  // The row of the total, '*', holds at least as much as any part, so the largest part is one of the first two rows. A
  // wider network holds at least as much as each of its networks.
  const largest = database.prepare(
    "SELECT network, bytes FROM charged INDEXED BY charged_most WHERE quota = ? AND client = ? AND network <> '*' ORDER BY bytes DESC LIMIT 1",
  );
  const oldest = (index: string, ...columns: string[]) =>
    database.prepare(
      `DELETE FROM entry WHERE rowid = (SELECT rowid FROM entry INDEXED BY ${index} WHERE quota = ?${columns.map((column) => ` AND ${column} = ?`).join('')} ORDER BY rowid LIMIT 1)`,
    );
  const evictOfQuota = oldest('entry_quota');
  const evictOfNetwork = oldest('entry_network', 'by_network');
  const evictOfWider = oldest('entry_wider', 'by_wider');
  const evictOfClient = oldest('entry_app', 'by_client');
  const evictOfBoth = oldest('entry_app_wider', 'by_client', 'by_wider');

  const ran = ({ changes }: { changes: number | bigint }) => changes > 0;

  /** Deletes the entry that a part over its limit has to lose. Returns whether there was one. */
  const evict = (quota: string, { client, network, large }: Limit): boolean => {
    const most = large === undefined ? undefined : largest.get(quota, client);
    const from = Number(most?.bytes ?? 0) > (large ?? 0) ? String(most?.network) : network;
    if (client !== '*')
      return ran(from === '*' ? evictOfClient.run(quota, client) : evictOfBoth.run(quota, client, from));
    if (from === '*') return ran(evictOfQuota.run(quota));
    // The largest part may be a network, if its wider network holds the same entries.
    return ran(evictOfNetwork.run(quota, from)) || ran(evictOfWider.run(quota, from));
  };

  return (charge) => {
    const { name, whenFull } = charge.quota;
    for (const limit of limitsOf(charge)) {
      const held = () => Number(bytesOf.get(name, limit.client, limit.network)?.bytes ?? 0);
      while (held() > limit.most) {
        if (whenFull === 'refuse') throw quotaFull();
        if (!evict(name, limit)) throw new Error(`the quota ${name} counts entries that do not exist`);
      }
    }
  };
}
