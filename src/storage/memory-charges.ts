import { type Charge, OVERHEAD, quotaFull } from './quota.ts';

interface Charged {
  readonly payload: string;
  readonly charge?: Charge | undefined;
}

interface Part {
  bytes: number;
  /** The entries' keys, oldest first. */
  readonly keys: Set<string>;
}

/** What each quota holds in memory, by client and network. '*' stands for all of them. */
export class MemoryCharges {
  readonly #parts = new Map<string, Map<string, Part>>();

  /**
   * Updates the totals when an entry is written, replaced or deleted. A replaced entry keeps its age if it is charged
   * to the same client and network.
   */
  replace(key: string, before: Charged | undefined, after: Charged | undefined): void {
    const [left, right] = [partsOf(before?.charge), partsOf(after?.charge)];
    const stays = left.join() === right.join();
    for (const [group, network] of left) {
      const part = this.#part(group, network);
      part.bytes -= weightOf(before);
      if (!stays || after === undefined) part.keys.delete(key);
      if (part.keys.size === 0) this.#parts.get(group)?.delete(network);
    }
    for (const [group, network] of right) {
      const part = this.#part(group, network);
      part.bytes += weightOf(after);
      part.keys.add(key);
      this.#parts.get(group)?.set(network, part);
    }
  }

  /** Evicts entries until the quota of a charge is met, as documented on `Store.commit`. */
  makeRoom({ quota, network, client }: Charge, evict: (key: string) => void): void {
    const [everybody, app] = [groupOf(quota.name, '*'), groupOf(quota.name, client)];
    const limits: readonly (readonly [group: string, network: string, most: number])[] = [
      [everybody, network, quota.perNetwork],
      ...(client === '' ? [] : [[app, '*', quota.perClient] as const]),
      [everybody, '*', quota.total],
    ];
    for (const [group, of, most] of limits) {
      while (this.#part(group, of).bytes > most) {
        if (quota.whenFull === 'refuse') throw quotaFull();
        const [oldest] = this.#part(group, of === '*' ? this.#largest(group) : of).keys;
        if (oldest === undefined) throw new Error(`the quota ${quota.name} counts entries that are not there`);
        evict(oldest);
      }
    }
  }

  clear(): void {
    this.#parts.clear();
  }

  #largest(group: string): string {
    const networks = [...(this.#parts.get(group) ?? [])].filter(([network]) => network !== '*');
    return networks.toSorted(([, a], [, b]) => b.bytes - a.bytes)[0]?.[0] ?? '';
  }

  #part(group: string, network: string): Part {
    const parts = this.#parts.get(group) ?? new Map<string, Part>();
    this.#parts.set(group, parts);
    return parts.get(network) ?? { bytes: 0, keys: new Set() };
  }
}

function groupOf(quota: string, client: string): string {
  return `${quota}\0${client}`;
}

function partsOf(charge: Charge | undefined): readonly (readonly [group: string, network: string])[] {
  if (charge === undefined) return [];
  const { quota, client, network } = charge;
  return ['*', client].flatMap((app) => ['*', network].map((of) => [groupOf(quota.name, app), of] as const));
}

function weightOf(entry: Charged | undefined): number {
  return Buffer.byteLength(entry?.payload ?? '') + OVERHEAD;
}
