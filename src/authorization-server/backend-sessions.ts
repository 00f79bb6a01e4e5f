import { cookieMatcher, cookiePairs } from '../http/cookie-names.ts';
import { jsonEntry, type NewEntry, type Store } from '../storage/store.ts';

/** The kind of entry that belongs to a grant, and ends with it. */
export const BACKEND_SESSION = 'BackendSession';

/** The member's own session at the backend, kept for one grant. */
interface BackendSession {
  readonly grantId: string;
  readonly cookies: readonly (readonly [name: string, value: string])[];
  /** Part of the id. Earlier versions counted changes with it. */
  readonly revision: number;
  /** When the grant ends, in Unix seconds; undefined: never. */
  readonly until?: number | undefined;
}

interface FoundSession extends BackendSession {
  /** The revision of its entry. */
  readonly entryRevision: number;
}

/**
 * The member sessions that apps use at backends that support nothing else. They are kept from the moment of approval
 * and sealed like everything in the store. Every method throws GatewayError `store_unavailable`.
 */
export type BackendSessions = ReturnType<typeof storedBackendSessions>;

/** @param kept - names of the cookies to keep; `*` is a wildcard */
export function storedBackendSessions(store: Store, kept: readonly string[]) {
  const isKept = cookieMatcher(kept);
  return {
    /**
     * @param grantId - the new grant
     * @param cookie - the Cookie field of the browser in which the member approved
     */
    async keep(grantId: string, cookie: string): Promise<void> {
      const cookies = cookiePairs(cookie).flatMap((pair) => {
        const equals = pair.indexOf('=');
        const name = pair.slice(0, Math.max(0, equals));
        return isKept(name) ? [[name, pair.slice(equals + 1)] as const] : [];
      });
      const grant = await store.get('Grant', grantId);
      const session = { grantId, cookies, revision: 0, until: grant?.expiresAt };
      await store.commit([{ op: 'create', entry: entryOf(session) }]);
      // The grant ended during this write, so its revocation did not delete the session.
      if ((await store.get('Grant', grantId)) === undefined)
        await store.commit([{ op: 'deleteBy', kind: BACKEND_SESSION, name: 'grant', value: grantId }], 'vital');
    },

    async find(grantId: string): Promise<FoundSession | undefined> {
      const [entry] = await store.findBy(BACKEND_SESSION, 'grant', grantId, 1);
      return entry && { ...(JSON.parse(entry.payload) as BackendSession), entryRevision: entry.revision };
    },

    /**
     * Replaces the cookies of a session.
     * @param found - the session as `find` returned it
     * @returns false if the session has changed or its grant has ended since. Of concurrent changes, at any replica, only
     * one succeeds, and none restores what was revoked.
     */
    async replace({ entryRevision, ...found }: FoundSession, cookies: BackendSession['cookies']): Promise<boolean> {
      return store.commit([{ op: 'update', entry: entryOf({ ...found, cookies }), revision: entryRevision }], 'vital');
    },
  };
}

function entryOf(session: BackendSession): NewEntry {
  const { grantId, revision, until } = session;
  return jsonEntry(BACKEND_SESSION, `${grantId}:${revision}`, session, until, { grant: grantId });
}
