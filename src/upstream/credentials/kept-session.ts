import { GatewayError } from '../../errors.ts';
import { changed, cookieChanges, cookieValue, type SessionCookies } from './session-cookies.ts';

/** The member's own session at the backends, stored with one grant. */
export interface KeptSession {
  readonly grantId: string;
  readonly cookies: SessionCookies;
}

/** The session store. Every method throws GatewayError `store_unavailable`. */
export interface KeptSessions {
  find(grantId: string): Promise<KeptSession | undefined>;
  /** Replaces the cookies of a session as it was found. Returns false if the session has changed or ended since. */
  replace(found: KeptSession, cookies: SessionCookies): Promise<boolean>;
}

/** What is needed to store the cookies that a backend sets. */
interface Keeping {
  readonly sessions: KeptSessions;
  /** Whether a cookie belongs to the session, the CSRF token included. */
  readonly matches: (name: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** How often to retry when other requests of the same grant change its cookies at the same moment. */
const TRIES = 50;

/**
 * Stores the cookies that a backend set. A cookie that another request has changed since is left alone: a response to
 * an old cookie may well belong to an anonymous session.
 * @param sent the cookies that the request was sent with
 * @param setCookie the response's Set-Cookie fields
 */
export async function keepCookies(
  { sessions, matches, clock }: Keeping,
  grantId: string,
  sent: SessionCookies,
  setCookie: readonly string[],
): Promise<void> {
  const changes = cookieChanges(setCookie, matches, clock());
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await sessions.find(grantId);
    if (found === undefined) return;
    const due = changes.filter(
      ({ name, value }) =>
        cookieValue(found.cookies, name) === cookieValue(sent, name) && cookieValue(sent, name) !== value,
    );
    if (due.length === 0 || (await sessions.replace(found, changed(found.cookies, due)))) return;
  }
  throw new GatewayError('store_unavailable', { cause: new Error('A session changes too often to be kept.') });
}
