import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, jsonEntry, readJson, type Store, unixSeconds } from '../storage/store.ts';
import type { Member } from './connector.ts';
import { readCookie } from './cookie.ts';

/** The kind of store entry. Entries reference the member, so ending everything a member has also ends these. */
export const SIGN_IN_KIND = 'SignIn';

/** Sign-in sessions kept by coursegate, for logins without a session cookie of the backend. */
export type SignInSessions = ReturnType<typeof signInSessions>;

export interface SignInSessionsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly cookieName: string;
  /** Seconds that a session lasts. */
  readonly lifetime: number;
}

/** Every method throws GatewayError `store_unavailable`. */
export function signInSessions({ store, clock, cookieName, lifetime }: SignInSessionsOptions) {
  return {
    async identify(headers: IncomingHttpHeaders): Promise<Member | undefined> {
      const id = readCookie(headers, cookieName);
      return id === undefined ? undefined : await readJson<Member>(store, SIGN_IN_KIND, id);
    },

    /**
     * Starts a new session for a member and ends the one the browser had, which prevents session fixation. Returns the
     * new cookie's value and its lifetime in seconds.
     */
    async begin(headers: IncomingHttpHeaders, member: Member) {
      const former = readCookie(headers, cookieName);
      const value = randomBytes(32).toString('base64url');
      const now = unixSeconds(clock);
      const entry = jsonEntry(SIGN_IN_KIND, value, member, now + lifetime, { member: member.sub });
      await store.commit([
        ...(former === undefined ? [] : [{ op: 'delete', kind: SIGN_IN_KIND, id: former } as const]),
        { op: 'create', entry },
      ]);
      return { value, lifetime };
    },

    /** Ends the session of the browser, if it has one. */
    async end(headers: IncomingHttpHeaders): Promise<void> {
      const id = readCookie(headers, cookieName);
      if (id !== undefined) await store.commit([{ op: 'delete', kind: SIGN_IN_KIND, id }], 'vital');
    },
  };
}
