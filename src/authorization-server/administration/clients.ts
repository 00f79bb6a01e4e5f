import { GatewayError } from '../../errors.ts';
import type { Store } from '../../storage/store.ts';
import { clientHost } from '../client-host.ts';
import type { Grants } from '../grants.ts';
import { grantList, isoTime, lastUses } from './grant-view.ts';
import { pageOf } from './paging.ts';
import type { Query } from './query.ts';
import { APP_KINDS, findApp, type StoredApp, storedApp } from './stored-app.ts';
import type { Suspensions } from './suspensions.ts';

/** The most connections that are read to determine when an app was last used. */
const LOOKED_AT = 100;

/** The known apps. Every method throws GatewayError `store_unavailable`. */
export function storedClients(
  store: Store,
  grants: Pick<Grants, 'list' | 'count'>,
  blocks: Pick<Suspensions, 'since'>,
) {
  const view = async (known: StoredApp) => {
    const [connections, first, since] = await Promise.all([
      grants.count({ client: known.id }),
      grants.list({ client: known.id }, LOOKED_AT + 1),
      blocks.since(known.id),
    ]);
    const uses = [...(await lastUses(store, first)).values()];
    // With more connections, members and last use would be those of a part of them, and are omitted.
    const complete = first.length <= LOOKED_AT;
    return {
      id: known.id,
      kind: known.kind,
      name: known.name,
      state: since === undefined ? 'enabled' : 'disabled',
      disabled_at: isoTime(since),
      redirect_hosts: [...new Set(known.redirectUris.map(hostOf))],
      connections,
      members: complete ? new Set(first.map(({ member }) => member)).size : undefined,
      last_used_at: complete && uses.length > 0 ? isoTime(Math.max(...uses)) : undefined,
      created_at: isoTime(known.createdAt),
      kept_until: isoTime(known.expiresAt),
    };
  };

  return {
    /** Filtered by a part of the name or id (case-insensitive), the host of a redirect URI, and the kind. */
    async list(query: Query) {
      const [text, host] = [query.text('name')?.toLowerCase(), query.text('host')];
      const kind = query.oneOf('kind', ['registered', 'document']);
      const kinds = kind === undefined ? Object.values(APP_KINDS) : [APP_KINDS[kind]];
      const { found, next } = await pageOf(store, kinds, query.page(), (entry) => {
        const known = storedApp(entry);
        const named = text === undefined || `${known.name ?? ''}\n${known.id}`.toLowerCase().includes(text);
        const redirects = host === undefined || known.redirectUris.some((uri) => hostOf(uri) === host);
        return named && redirects ? known : undefined;
      });
      return { clients: await Promise.all(found.map(view)), next };
    },

    async describe(id: string) {
      const [known, listed] = await Promise.all([findApp(store, id), grantList(store, grants, { client: id })]);
      return {
        ...(known === undefined ? { id, known: false } : { ...(await view(known)), redirect_uris: known.redirectUris }),
        ...listed,
      };
    },

    /** Throws GatewayError `not_found` for an unknown app. */
    async require(id: string) {
      const known = await findApp(store, id);
      if (known === undefined) throw new GatewayError('not_found', { message: 'No app has this id.' });
      return { kind: known.kind, host: clientHost(known.redirectUris[0]) };
    },
  };
}

/** The host, or the scheme of a URI without one. */
function hostOf(uri: string): string {
  const url = URL.parse(uri);
  return url === null ? uri : url.hostname || url.protocol.slice(0, -1);
}
