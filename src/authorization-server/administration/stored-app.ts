import type { Entry, Store } from '../../storage/store.ts';
import { clientOf, findClient, metadataOf } from '../event-client.ts';

/** Store kinds: apps that registered dynamically, and apps with a client ID metadata document. */
export const APP_KINDS = { registered: 'Client', document: 'ClientDocument' } as const;

/** An app as stored. Times are Unix seconds. */
export interface StoredApp {
  readonly id: string;
  readonly kind: keyof typeof APP_KINDS;
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
  /** What it says about itself (RFC 7591 section 2). */
  readonly metadata: ReturnType<typeof metadataOf>;
  readonly createdAt: number | undefined;
  readonly expiresAt: number | undefined;
}

export function storedApp(entry: Entry): StoredApp {
  const metadata = metadataOf(entry);
  const { clientId, clientName, redirectUris } = clientOf(String(metadata.client_id), metadata);
  const isDocument = entry.kind === APP_KINDS.document;
  const issued = isDocument ? undefined : metadata.client_id_issued_at;
  return {
    id: clientId,
    kind: isDocument ? 'document' : 'registered',
    name: clientName,
    ...{ redirectUris, metadata },
    createdAt: typeof issued === 'number' ? issued : undefined,
    expiresAt: entry.expiresAt,
  };
}

/** Throws GatewayError `store_unavailable`. */
export async function findApp(store: Store, id: string): Promise<StoredApp | undefined> {
  const entry = await findClient(store, id);
  return entry && storedApp(entry);
}
