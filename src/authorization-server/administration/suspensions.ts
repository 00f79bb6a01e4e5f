import { type Clock, type Store, unixSeconds } from '../../storage/store.ts';

/** Suspended members, who get no new grants, tokens or refreshes, or disabled apps, which are treated as unknown. */
export interface Suspensions {
  /** Since when, in Unix seconds; undefined when not suspended. */
  since(id: string): Promise<number | undefined>;
  /** Resolves to the start of the suspension, which is earlier for a member who is already suspended. */
  begin(id: string): Promise<number>;
  end(id: string): Promise<void>;
}
// Every method throws GatewayError `store_unavailable`.

/** `kind` is the kind of the stored entries. */
export function storedSuspensions(store: Store, clock: Clock, kind = 'Suspension'): Suspensions {
  const since = async (id: string): Promise<number | undefined> => {
    const entry = await store.get(kind, id);
    return entry === undefined ? undefined : (JSON.parse(entry.payload) as { since: number }).since;
  };
  return {
    since,
    async begin(id) {
      const now = unixSeconds(clock);
      const payload = JSON.stringify({ since: now });
      const entry = { kind, id, payload, expiresAt: undefined, references: {} };
      return (await store.commit([{ op: 'create', entry }], 'vital')) ? now : ((await since(id)) ?? now);
    },
    async end(id) {
      await store.commit([{ op: 'delete', kind, id }]);
    },
  };
}

/** Apps that the operator has disabled. */
export function storedClientBlocks(store: Store, clock: Clock): Suspensions {
  return storedSuspensions(store, clock, 'ClientBlock');
}
