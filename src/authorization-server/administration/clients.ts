import { GatewayError } from '../../errors.ts';
import type { Entry, Store } from '../../storage/store.ts';
import { clientHost } from '../client-host.ts';
import type { Grants } from '../grants.ts';
import type { ClientBlocks } from './client-blocks.ts';
import { isoTime, LISTED, lastUses, viewOf } from './grant-view.ts';
import { type Page, type PageWanted, pageOf } from './paging.ts';

/** Store kinds: apps that registered dynamically, and apps with a client ID metadata document. */
const KINDS = { registered: 'Client', document: 'ClientDocument' } as const;

type ClientKind = keyof typeof KINDS;

/** The most connections that are read to determine when an app was last used. */
const LOOKED_AT = 100;

export interface ClientFilter {
  /** A part of its name or id, case-insensitive. */
  readonly name: string | undefined;
  /** The host of one of its redirect URIs. */
  readonly host: string | undefined;
  readonly kind: ClientKind | undefined;
}

/** An app as stored. Times are Unix seconds. */
interface Known {
  readonly id: string;
  readonly kind: ClientKind;
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
  readonly createdAt: number | undefined;
  readonly expiresAt: number | undefined;
}

/** The known apps. Every method throws GatewayError `store_unavailable`. */
export interface Clients {
  list(filter: ClientFilter, wanted: PageWanted): Promise<Page<object>>;
  describe(id: string): Promise<object>;
  /** Throws GatewayError `not_found` for an unknown app. */
  require(id: string): Promise<{ readonly kind: ClientKind; readonly host: string | undefined }>;
}

export interface ClientsOptions {
  readonly store: Store;
  readonly grants: Pick<Grants, 'list' | 'count'>;
  readonly blocks: Pick<ClientBlocks, 'since'>;
}

export function storedClients({ store, grants, blocks }: ClientsOptions): Clients {
  const find = async (id: string): Promise<Known | undefined> => {
    const entry = (await store.get(KINDS.registered, id)) ?? (await store.get(KINDS.document, id));
    return entry === undefined ? undefined : knownOf(entry);
  };
  const view = async (known: Known): Promise<object> => {
    const [connections, first, since] = await Promise.all([
      grants.count({ client: known.id }),
      grants.list({ client: known.id }, LOOKED_AT + 1),
      blocks.since(known.id),
    ]);
    const uses = [...(await lastUses(store, first)).values()];
    // With more connections, members and last use would be those of a part of them, and are omitted.
    const whole = first.length <= LOOKED_AT;
    return {
      id: known.id,
      kind: known.kind,
      ...(known.name === undefined ? {} : { name: known.name }),
      state: since === undefined ? 'enabled' : 'disabled',
      ...(since === undefined ? {} : { disabled_at: isoTime(since) }),
      redirect_hosts: [...new Set(known.redirectUris.map(hostOf))],
      connections,
      ...(whole ? { members: new Set(first.map(({ member }) => member)).size } : {}),
      ...(whole && uses.length > 0 ? { last_used_at: isoTime(Math.max(...uses)) } : {}),
      ...(known.createdAt === undefined ? {} : { created_at: isoTime(known.createdAt) }),
      ...(known.expiresAt === undefined ? {} : { kept_until: isoTime(known.expiresAt) }),
    };
  };

  return {
    async list({ name, host, kind }, wanted) {
      const kinds = kind === undefined ? Object.values(KINDS) : [KINDS[kind]];
      const text = name?.toLowerCase();
      const { found, next } = await pageOf(store, kinds, wanted, (entry) => {
        const known = knownOf(entry);
        const named = text === undefined || `${known.name ?? ''}\n${known.id}`.toLowerCase().includes(text);
        const redirects = host === undefined || known.redirectUris.some((uri) => hostOf(uri) === host);
        return named && redirects ? known : undefined;
      });
      return { found: await Promise.all(found.map(view)), next };
    },

    async describe(id) {
      const [known, listed] = await Promise.all([find(id), grants.list({ client: id }, LISTED + 1)]);
      const shown = listed.slice(0, LISTED);
      const uses = await lastUses(store, shown);
      return {
        ...(known === undefined ? { id, known: false } : { ...(await view(known)), redirect_uris: known.redirectUris }),
        grants: shown.map((grant) => viewOf(grant, uses.get(grant.id))),
        more: listed.length > LISTED,
      };
    },

    async require(id) {
      const known = await find(id);
      if (known === undefined) throw new GatewayError('not_found', { message: 'No app has this id.' });
      return { kind: known.kind, host: clientHost(known) };
    },
  };
}

function knownOf({ kind, payload, expiresAt }: Entry): Known {
  const stored = JSON.parse(payload) as Record<string, unknown>;
  const isDocument = kind === KINDS.document;
  const metadata = (isDocument ? stored.document : stored) as Record<string, unknown>;
  const { client_id: id, client_name: name, redirect_uris: uris } = metadata;
  const issued = stored.client_id_issued_at;
  return {
    id: String(id),
    kind: isDocument ? 'document' : 'registered',
    name: typeof name === 'string' ? name : undefined,
    redirectUris: Array.isArray(uris) ? uris.map(String) : [],
    createdAt: typeof issued === 'number' ? issued : undefined,
    expiresAt,
  };
}

/** The host, or the scheme of a URI without one. */
function hostOf(uri: string): string {
  const url = URL.parse(uri);
  return url === null ? uri : url.hostname || url.protocol.slice(0, -1);
}
