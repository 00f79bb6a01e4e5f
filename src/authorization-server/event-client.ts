import type { EventClient } from '../events/event.ts';
import type { Store } from '../storage/store.ts';
import { clientHost } from './client-host.ts';

/** What is known of an app, as its metadata or oidc-provider has it. */
interface Known {
  readonly clientId: string;
  readonly clientName?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
}

type Metadata = Readonly<Record<string, unknown>>;

/** In: an app, and where this answer goes, of all the places it may have. Out: it, as the backend is told of it. */
export function eventClient({ clientId, clientName, redirectUris }: Known, redirectUri?: string): EventClient {
  const host = clientHost({ redirectUris: redirectUri === undefined ? redirectUris : [redirectUri] });
  return {
    id: clientId,
    ...(clientName === undefined ? {} : { name: clientName }),
    ...(host === undefined ? {} : { host }),
    kind: clientId.startsWith('https://') ? 'document' : 'registered',
  };
}

/**
 * The same for an app by its id, from what the store has of it: nothing is fetched. Of one that is gone the id is told.
 * Throws GatewayError `store_unavailable`.
 */
export async function describeClient(store: Store, clientId: string, redirectUri?: string): Promise<EventClient> {
  const registered = await store.get('Client', clientId);
  if (registered !== undefined)
    return eventClient(clientOf(clientId, JSON.parse(registered.payload) as Metadata), redirectUri);
  const document = await store.get('ClientDocument', clientId);
  const record = document === undefined ? {} : (JSON.parse(document.payload) as { document?: Metadata });
  return eventClient(clientOf(clientId, record.document ?? {}), redirectUri);
}

/** In: client metadata (RFC 7591 §2), judged when it came. */
export function clientOf(clientId: string, { client_name, redirect_uris }: Metadata): Known {
  return {
    clientId,
    ...(typeof client_name === 'string' ? { clientName: client_name } : {}),
    redirectUris: Array.isArray(redirect_uris) ? redirect_uris.map(String) : [],
  };
}
