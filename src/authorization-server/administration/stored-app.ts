import type { Entry, Store } from '../../storage/store.ts';
import { clientOf, findClient, metadataOf } from '../event-client.ts';

/** Store kinds: apps that registered dynamically, and apps with a client ID metadata document. */
export const APP_KINDS = { registered: 'Client', document: 'ClientDocument' } as const;

export type StoredApp = Readonly<ReturnType<typeof storedApp>>;

/** An app as stored. Times are Unix seconds. */
export function storedApp(entry: Entry) {
  const metadata = metadataOf(entry);
  const { clientId, clientName, redirectUris } = clientOf(String(metadata.client_id), metadata);
  const isDocument = entry.kind === APP_KINDS.document;
  const issued = isDocument ? undefined : metadata.client_id_issued_at;
  return {
    id: clientId,
    kind: isDocument ? ('document' as const) : ('registered' as const),
    name: clientName,
    redirectUris,
    /** What it says about itself (RFC 7591 section 2). */
    metadata,
    createdAt: typeof issued === 'number' ? issued : undefined,
    expiresAt: entry.expiresAt,
  };
}

/** Throws GatewayError `store_unavailable`. */
export async function findApp(store: Store, id: string): Promise<StoredApp | undefined> {
  const entry = await findClient(store, id);
  return entry && storedApp(entry);
}
