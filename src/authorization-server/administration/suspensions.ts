import { type Clock, type Store, unixSeconds } from '../../storage/store.ts';

const KIND = 'Suspension';

/** Suspended members. They get no new grants, tokens or refreshes until they are resumed. */
export interface Suspensions {
  /** Since when, in Unix seconds; undefined when not suspended. */
  since(member: string): Promise<number | undefined>;
  /** Resolves to the start of the suspension, which is earlier for a member who is already suspended. */
  begin(member: string): Promise<number>;
  end(member: string): Promise<void>;
}
// Every method throws GatewayError `store_unavailable`.

export function storedSuspensions(store: Store, clock: Clock): Suspensions {
  const since = async (member: string): Promise<number | undefined> => {
    const entry = await store.get(KIND, member);
    return entry === undefined ? undefined : (JSON.parse(entry.payload) as { since: number }).since;
  };
  return {
    since,
    async begin(member) {
      const now = unixSeconds(clock);
      const payload = JSON.stringify({ since: now });
      const entry = { kind: KIND, id: member, payload, expiresAt: undefined, references: {} };
      return (await store.commit([{ op: 'create', entry }], 'vital')) ? now : ((await since(member)) ?? now);
    },
    async end(member) {
      await store.commit([{ op: 'delete', kind: KIND, id: member }]);
    },
  };
}
