import { type Clock, type Store, unixSeconds } from '../../storage/store.ts';

const KIND = 'ClientBlock';

/** Apps that the operator has disabled. The authorization server treats them as unknown. */
export interface ClientBlocks {
  /** Since when, in Unix seconds; undefined when the app is not disabled. */
  since(client: string): Promise<number | undefined>;
  begin(client: string): Promise<number>;
  end(client: string): Promise<void>;
}
// Every method throws GatewayError `store_unavailable`.

export function storedClientBlocks(store: Store, clock: Clock): ClientBlocks {
  const since = async (client: string): Promise<number | undefined> => {
    const entry = await store.get(KIND, client);
    return entry === undefined ? undefined : (JSON.parse(entry.payload) as { since: number }).since;
  };
  return {
    since,
    async begin(client) {
      const now = unixSeconds(clock);
      const entry = {
        kind: KIND,
        id: client,
        payload: JSON.stringify({ since: now }),
        expiresAt: undefined,
        references: {},
      };
      return (await store.commit([{ op: 'create', entry }], 'vital')) ? now : ((await since(client)) ?? now);
    },
    async end(client) {
      await store.commit([{ op: 'delete', kind: KIND, id: client }]);
    },
  };
}
