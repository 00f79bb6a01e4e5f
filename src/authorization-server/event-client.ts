import type { EventClient } from '../events/event.ts';
import type { Entry, Store } from '../storage/store.ts';
import { clientHost } from './client-host.ts';

/** An app, as its metadata or oidc-provider describes it. */
interface Known {
  readonly clientId: string;
  readonly clientName?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
}

type Metadata = Readonly<Record<string, unknown>>;

/**
 * Describes an app in events.
 * @param redirectUri - where this answer goes, if known; otherwise the app's first redirect URI is used
 */
export function eventClient({ clientId, clientName, redirectUris }: Known, redirectUri?: string): EventClient {
  const host = clientHost(redirectUri ?? redirectUris?.[0]);
  return {
    id: clientId,
    ...(clientName === undefined ? {} : { name: clientName }),
    ...(host === undefined ? {} : { host }),
    kind: clientId.startsWith('https://') ? 'document' : 'registered',
  };
}

/**
 * Describes an app by its id, from the store only: nothing is fetched. An app that is gone is described by its id
 * alone. Throws GatewayError `store_unavailable`.
 */
export async function describeClient(store: Store, clientId: string, redirectUri?: string): Promise<EventClient> {
  const entry = await findClient(store, clientId);
  return eventClient(clientOf(clientId, entry === undefined ? {} : metadataOf(entry)), redirectUri);
}

/** Finds an app that registered, or that has a metadata document. */
export async function findClient(store: Store, clientId: string): Promise<Entry | undefined> {
  return (await store.get('Client', clientId)) ?? store.get('ClientDocument', clientId);
}

export function metadataOf({ kind, payload }: Entry): Metadata {
  const stored = JSON.parse(payload) as Metadata & { readonly document?: Metadata };
  return kind === 'ClientDocument' ? (stored.document ?? {}) : stored;
}

/** @param metadata - client metadata (RFC 7591 section 2) that has already been checked */
export function clientOf(clientId: string, { client_name, redirect_uris }: Metadata) {
  return {
    clientId,
    ...(typeof client_name === 'string' ? { clientName: client_name } : {}),
    redirectUris: Array.isArray(redirect_uris) ? redirect_uris.map(String) : [],
  };
}
