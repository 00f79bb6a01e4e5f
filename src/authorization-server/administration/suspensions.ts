import { type Clock, jsonEntry, readJson, type Store, unixSeconds } from '../../storage/store.ts';

/**
 * Suspended members, who get no new grants, tokens or refreshes, or disabled apps, which are treated as unknown. Every
 * method throws GatewayError `store_unavailable`.
 */
export type Suspensions = ReturnType<typeof storedSuspensions>;

/** `kind` is the kind of the stored entries. */
export function storedSuspensions(store: Store, clock: Clock, kind = 'Suspension') {
  const since = async (id: string) => (await readJson<{ since: number }>(store, kind, id))?.since;
  return {
    /** Since when, in Unix seconds; undefined when not suspended. */
    since,
    /** Resolves to the start of the suspension, which is earlier for a member who is already suspended. */
    async begin(id: string): Promise<number> {
      const now = unixSeconds(clock);
      const entry = jsonEntry(kind, id, { id, since: now }, undefined);
      return (await store.commit([{ op: 'create', entry }], 'vital')) ? now : ((await since(id)) ?? now);
    },
    async end(id: string): Promise<void> {
      await store.commit([{ op: 'delete', kind, id }]);
    },
  };
}

/** Apps that the operator has disabled. */
export function storedClientBlocks(store: Store, clock: Clock): Suspensions {
  return storedSuspensions(store, clock, 'ClientBlock');
}

/**
 * Whether the operator has closed registration. It is read with each new app, so that all replicas follow at once.
 */
export function registrationSwitch(store: Store, clock: Clock) {
  const stored = storedSuspensions(store, clock, 'RegistrationClosed');
  return {
    /** In Unix seconds; undefined when registration is open. */
    since: () => stored.since('all'),
    begin: () => stored.begin('all'),
    end: () => stored.end('all'),
  };
}
