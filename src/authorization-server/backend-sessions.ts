import { cookieMatcher, cookiePairs } from '../http/cookie-names.ts';
import type { NewEntry, Store } from '../storage/store.ts';

/** The kind of entry that hangs on a grant, and ends with it. */
export const BACKEND_SESSION = 'BackendSession';

/** The member's own session at the backend, as it hangs on one grant. */
interface BackendSession {
  readonly grantId: string;
  readonly cookies: readonly (readonly [name: string, value: string])[];
  readonly revision: number;
  /** When the grant ends, in Unix seconds; undefined: never. */
  readonly until?: number | undefined;
}

/**
 * The sessions that apps act with at backends that know nothing else: kept from when a member approved, sealed like
 * everything in the store. Every method throws GatewayError `store_unavailable`.
 */
export interface BackendSessions {
  /** In: the grant that was just made, and the Cookie field of the browser in which the member approved. */
  keep(grantId: string, cookie: string): Promise<void>;
  find(grantId: string): Promise<BackendSession | undefined>;
  /**
   * In: a session as it was found, and its cookies from now on. Out: false when it has changed, or its grant has ended,
   * since: of all who change it at once, at any replica, one does, and none brings back what was revoked.
   */
  replace(found: BackendSession, cookies: BackendSession['cookies']): Promise<boolean>;
}

/** In: the store, and the cookies that are kept, by names with `*`. */
export function storedBackendSessions(store: Store, kept: readonly string[]): BackendSessions {
  const isKept = cookieMatcher(kept);
  return {
    async keep(grantId, cookie) {
      const cookies = cookiePairs(cookie).flatMap((pair) => {
        const equals = pair.indexOf('=');
        const name = pair.slice(0, Math.max(0, equals));
        return isKept(name) ? [[name, pair.slice(equals + 1)] as const] : [];
      });
      const grant = await store.get('Grant', grantId);
      const session = { grantId, cookies, revision: 0, until: grant?.expiresAt };
      await store.commit([{ op: 'create', entry: entryOf(session) }]);
      // Ended while this was written: then nobody would come to delete it.
      if ((await store.get('Grant', grantId)) === undefined) {
        await store.commit([{ op: 'deleteBy', kind: BACKEND_SESSION, name: 'grant', value: grantId }], 'vital');
      }
    },

    async find(grantId) {
      const [entry] = await store.findBy(BACKEND_SESSION, 'grant', grantId, 1);
      return entry === undefined ? undefined : (JSON.parse(entry.payload) as BackendSession);
    },

    async replace(found, cookies) {
      const next = { ...found, cookies, revision: found.revision + 1 };
      const id = idOf(found);
      return store.commit(
        [
          // The guard: it is there once, for whoever comes first.
          { op: 'consume', kind: BACKEND_SESSION, id },
          { op: 'delete', kind: BACKEND_SESSION, id },
          { op: 'create', entry: entryOf(next) },
        ],
        'vital',
      );
    },
  };
}

function idOf({ grantId, revision }: BackendSession): string {
  return `${grantId}:${revision}`;
}

function entryOf(session: BackendSession): NewEntry {
  return {
    kind: BACKEND_SESSION,
    id: idOf(session),
    payload: JSON.stringify(session),
    expiresAt: session.until,
    references: { grant: session.grantId },
  };
}
