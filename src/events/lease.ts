import { randomUUID } from 'node:crypto';
import { type Clock, type NewEntry, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'EventLease';
const ID = 'deliverer';

/** Lets one of the replicas that share a store send events. Every method throws `store_unavailable`. */
export type Lease = ReturnType<typeof storedLease>;

/** `length` is the number of seconds after which the lease expires unless it is extended. */
export function storedLease(store: Store, clock: Clock, length: number) {
  const holder = randomUUID();
  let until = 0;
  const entry = (): NewEntry => {
    until = unixSeconds(clock) + length;
    return { kind: KIND, id: ID, payload: holder, expiresAt: until, references: {} };
  };
  const isOurs = async () => (await store.get(KIND, ID))?.payload === holder;

  return {
    /** Resolves to whether this replica now holds the lease. */
    take: () => store.commit([{ op: 'create', entry: entry() }], 'vital'),
    /** Extends the lease for work that may take `seconds`. Resolves to false when another replica holds it by now. */
    async keep(seconds: number): Promise<boolean> {
      if (until - unixSeconds(clock) > seconds) return true;
      if (!(await isOurs())) return false;
      await store.commit([{ op: 'put', entry: entry() }], 'vital');
      return true;
    },
    async giveBack(): Promise<void> {
      if (await isOurs()) await store.commit([{ op: 'delete', kind: KIND, id: ID }], 'vital');
    },
  };
}
