import { errors } from 'oidc-provider';
import type { EventClient } from '../../events/event.ts';
import type { Store } from '../../storage/store.ts';
import { connectedAppView } from '../consent-view.ts';
import { describeClient } from '../event-client.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import type { KnownApp } from '../pages/app-row.ts';
import type { AppGrants } from './app-list.ts';

/** What is known about the app. A deleted app, or one whose document is unreachable, can still be disconnected. */
export async function knownApp(
  { provider, pages }: Pick<InteractionParts, 'provider' | 'pages'>,
  clientId: string,
): Promise<KnownApp | undefined> {
  try {
    const client = await provider().Client.find(clientId);
    if (client !== undefined) return connectedAppView(client, pages.school);
  } catch (thrown) {
    if (!(thrown instanceof errors.OIDCProviderError)) throw thrown;
  }
  const host = URL.parse(clientId)?.host;
  return host ? { name: host, posing: undefined, proof: { kind: 'none' }, destinations: [] } : undefined;
}

/** What apps say about themselves, by id. Only from the store: a search must not fetch the documents of all apps. */
export async function descriptionsOf(
  store: Store,
  apps: readonly AppGrants[],
): Promise<ReadonlyMap<string, EventClient>> {
  const described = apps.map(async ({ clientId }) => [clientId, await describeClient(store, clientId)] as const);
  return new Map(await Promise.all(described));
}
