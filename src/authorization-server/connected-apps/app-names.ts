import type { EventClient } from '../../events/event.ts';
import type { Store } from '../../storage/store.ts';
import { describeClient } from '../event-client.ts';
import type { AppGrants } from './app-list.ts';

/** The most names in one list. */
const MOST_NAMED = 200;

/** What apps say about themselves, by id. Only from the store: a search must not fetch the documents of all apps. */
export async function descriptionsOf(
  store: Store,
  apps: readonly AppGrants[],
): Promise<ReadonlyMap<string, EventClient>> {
  const described = apps.map(async ({ clientId }) => [clientId, await describeClient(store, clientId)] as const);
  return new Map(await Promise.all(described));
}

/** How many apps there are, and the names of the first; undefined for one that is gone. */
export async function namesIn(store: Store, apps: readonly AppGrants[]) {
  const described = await descriptionsOf(store, apps.slice(0, MOST_NAMED));
  return { count: apps.length, names: [...described.values()].map(({ name }) => name) };
}
