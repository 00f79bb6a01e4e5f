import { randomUUID } from 'node:crypto';
import { type Clock, type NewEntry, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'EventLease';
const ID = 'deliverer';

/** Whose turn it is, of all replicas that share the store. Every method throws `store_unavailable`. */
export interface Lease {
  /** Out: whether it is ours now. */
  take(): Promise<boolean>;
  /** Before work that may take `seconds`. Out: false when another has it by now. */
  keep(seconds: number): Promise<boolean>;
  giveBack(): Promise<void>;
}

/** In: seconds after which it is anybody's again, whatever became of its holder. */
export function storedLease(store: Store, clock: Clock, length: number): Lease {
  const holder = randomUUID();
  let until = 0;
  const entry = (): NewEntry => {
    until = unixSeconds(clock) + length;
    return { kind: KIND, id: ID, payload: holder, expiresAt: until, references: {} };
  };
  const isOurs = async () => (await store.get(KIND, ID))?.payload === holder;

  return {
    take: () => store.commit([{ op: 'create', entry: entry() }], 'vital'),
    async keep(seconds) {
      if (until - unixSeconds(clock) > seconds) return true;
      if (!(await isOurs())) return false;
      await store.commit([{ op: 'put', entry: entry() }], 'vital');
      return true;
    },
    async giveBack() {
      if (await isOurs()) await store.commit([{ op: 'delete', kind: KIND, id: ID }], 'vital');
    },
  };
}
