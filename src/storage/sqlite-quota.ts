import type { DatabaseSync } from 'node:sqlite';
import { type Charge, quotaFull } from './quota.ts';

/** Enforces the quota of a charged entry. To be called in the transaction that has written it. */
export type MakeRoom = (charge: Charge) => void;

/**
 * Triggers maintain the totals (sqlite-schema.ts) and indexes find the entries: no step reads more than it deletes.
 * Throws GatewayError `too_many_requests` if a quota that evicts nothing is full.
 */
export function sqliteQuotas(database: DatabaseSync): MakeRoom {
  const bytesOf = database.prepare('SELECT bytes FROM charged WHERE quota = ? AND client = ? AND network = ?');
  // The row of the total, '*', holds at least as much as any part, so the largest part is one of the first two rows.
  const largest = database.prepare(
    "SELECT network FROM charged INDEXED BY charged_most WHERE quota = ? AND client = ? AND network <> '*' ORDER BY bytes DESC LIMIT 1",
  );
  const evictOfNetwork = database.prepare(
    'DELETE FROM entry WHERE rowid = (SELECT rowid FROM entry INDEXED BY entry_network WHERE quota = ? AND by_network = ? ORDER BY rowid LIMIT 1)',
  );
  const evictOfBoth = database.prepare(
    'DELETE FROM entry WHERE rowid = (SELECT rowid FROM entry INDEXED BY entry_app WHERE quota = ? AND by_client = ? AND by_network = ? ORDER BY rowid LIMIT 1)',
  );

  const held = (quota: string, client: string, network: string) =>
    Number(bytesOf.get(quota, client, network)?.bytes ?? 0);
  const largestOf = (quota: string, client: string) => String(largest.get(quota, client)?.network ?? '');

  /** Deletes the oldest entry of a client and a network; '*' is all clients, or the network that holds most. */
  const evict = (quota: string, client: string, network: string) => {
    const from = network === '*' ? largestOf(quota, client) : network;
    return client === '*' ? evictOfNetwork.run(quota, from) : evictOfBoth.run(quota, client, from);
  };

  return ({ quota: { name, total, perClient, perNetwork, whenFull }, network, client }) => {
    const limits: readonly (readonly [client: string, network: string, most: number])[] = [
      ['*', network, perNetwork],
      ...(client === '' ? [] : [[client, '*', perClient] as const]),
      ['*', '*', total],
    ];
    for (const [app, from, most] of limits) {
      while (held(name, app, from) > most) {
        if (whenFull === 'refuse') throw quotaFull();
        if (evict(name, app, from).changes === 0) throw new Error(`the quota ${name} counts entries that do not exist`);
      }
    }
  };
}
