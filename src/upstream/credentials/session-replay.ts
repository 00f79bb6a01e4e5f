import { LRUCache } from 'lru-cache';
import { compilePattern } from '../../config/pattern.ts';
import type { SessionCredential } from '../../config/upstream-credential.ts';
import { GatewayError } from '../../errors.ts';
import { cookieMatcher } from '../../http/cookie-names.ts';
import { SESSION_OVER, type SessionOver } from '../../oauth/challenge.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallUpstream } from '../request.ts';
import { type Attempt, type Credential, type Disposition, NOTHING } from './credential.ts';
import { type CookieChange, cookieChanges } from './set-cookie.ts';

/** The member's own session at the backends, stored with one grant. */
interface KeptSession {
  readonly grantId: string;
  /** Names and values as the browser sent them, or as a backend last set them. */
  readonly cookies: readonly (readonly [name: string, value: string])[];
  /** Incremented on every change. */
  readonly revision: number;
}

/** The session store. Every method throws GatewayError `store_unavailable`. */
interface KeptSessions {
  find(grantId: string): Promise<KeptSession | undefined>;
  /** Replaces the cookies of a session as it was found. Returns false if the session has changed or ended since. */
  replace(found: KeptSession, cookies: KeptSession['cookies']): Promise<boolean>;
}

type WhyOver = 'backend_session_over' | 'backend_session_missing' | 'backend_session_of_another';

/**
 * Asks the backend whose session a Cookie field belongs to. `sub` is undefined if it is no member's session;
 * `setCookie` has the cookies that the backend set in its response.
 */
type SessionOwner = (
  cookie: string,
) => Promise<{ readonly sub: string | undefined; readonly setCookie: readonly string[] }>;

export interface SessionReplayOptions {
  readonly config: SessionCredential;
  readonly upstream: string;
  readonly sessions: KeptSessions;
  /** Ends the grant: the member must sign in and approve the app again. */
  readonly ended: (member: MemberPrincipal, why: WhyOver) => Promise<void>;
  readonly call: CallUpstream;
  /** Throws GatewayError `login_unavailable` if the backend does not say. */
  readonly owner: SessionOwner;
  /** The path of the members' sign-in page. */
  readonly loginPath: string;
  /** Our public origin. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** When the owner of each grant's session was last checked. */
  readonly lookedAt?: LRUCache<string, number>;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** How often to retry when other requests of the same grant change its cookies at the same moment. */
const TRIES = 50;
/** How often a request is sent while other requests keep changing the cookie. */
const MOST_SENT = 8;
/** Grants for which the time of the last check is remembered. For others the backend is asked again. */
const REMEMBERED = 10_000;

/** Creates an empty cache. */
export function lookedAtSessions(): LRUCache<string, number> {
  return new LRUCache({ max: REMEMBERED });
}

/**
 * Sends a backend the session that the member had there when they approved the app, and stores the cookies that the
 * backend sets. When the backend reports that the session is over, the grant ends: only the member can start another.
 */
export function sessionReplay(options: SessionReplayOptions): Credential {
  const { config, upstream, sessions, ended, call, owner, origin, clock, lookedAt = lookedAtSessions() } = options;
  const { csrf } = config;
  const matches = cookieMatcher(csrf === undefined ? config.cookies : [...config.cookies, csrf.cookie]);
  const isSession = cookieMatcher(config.cookies);
  const saysOver = overOf(config.over, options.loginPath);

  const over = async (member: MemberPrincipal, why: WhyOver): Promise<SessionOver> => {
    await ended(member, why);
    return SESSION_OVER;
  };

  /**
   * Stores the cookies that a backend set. A cookie that another request has changed since is left alone: a response to
   * an old cookie may well belong to an anonymous session.
   * @param sent the cookies that the request was sent with
   */
  const keep = async (grantId: string, sent: KeptSession['cookies'], changes: readonly CookieChange[]) => {
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
  };

  /**
   * A session can pass to another member who signs in later in the same browser, so the backend is asked whose it is.
   * Returns the session as it is now. Ends the grant if the session is no longer the member's.
   */
  const ofMember = async (member: MemberPrincipal, found: KeptSession): Promise<KeptSession | SessionOver> => {
    for (let tries = 0; tries < MOST_SENT; tries += 1) {
      const before = lookedAt.get(member.grantId);
      const now = clock();
      // If the clock was set back, check again now instead of skipping the check for a long time.
      if (before !== undefined && now >= before && now - before < config.check * 1000) return found;
      const { sub, setCookie } = await owner(header(found.cookies, matches));
      const raw = setCookie.flatMap((value) => ['set-cookie', value]);
      if (sub === member.sub) {
        lookedAt.set(member.grantId, now);
        await keep(found.grantId, found.cookies, cookieChanges(raw, matches, now));
        return (await sessions.find(found.grantId)) ?? found;
      }
      const later = await sessions.find(found.grantId);
      if (later === undefined || header(later.cookies, matches) === header(found.cookies, matches)) {
        return over(member, sub === undefined ? 'backend_session_over' : 'backend_session_of_another');
      }
      // Another request received a new cookie while the old one was checked.
      found = later;
    }
    throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': '1' } });
  };

  /**
   * Fetches the CSRF token that a state-changing request needs if there is none yet. Returns the session including it.
   */
  const withCsrf = async (found: KeptSession, path: string): Promise<KeptSession> => {
    const answer = await call({ upstream, method: 'GET', path, headers: { cookie: header(found.cookies, matches) } });
    const raw = (answer.headers['set-cookie'] ?? '').split('\n').flatMap((value) => ['set-cookie', value]);
    await keep(found.grantId, found.cookies, cookieChanges(raw, matches, clock()));
    return (await sessions.find(found.grantId)) ?? found;
  };

  return {
    async attempt(principal, method, before) {
      if (principal.kind !== 'member') return NOTHING;
      const kept = await sessions.find(principal.grantId);
      if (kept === undefined || !kept.cookies.some(([name]) => isSession(name))) {
        return over(principal, 'backend_session_missing');
      }
      let found = await ofMember(principal, kept);
      if (found === SESSION_OVER) return found;
      const changes = !SAFE.has(method);
      if (changes && csrf?.path !== undefined && cookieValue(found.cookies, csrf.cookie) === undefined) {
        found = await withCsrf(found, csrf.path);
      }
      const { cookies: sent } = found;
      const nth = (before?.nth ?? 0) + 1;
      const cookie = header(sent, matches);
      const token = csrf === undefined ? undefined : cookieValue(sent, csrf.cookie);
      const fields = {
        Cookie: cookie,
        // As a page of the site would send them: the app's own Origin and Referer mean nothing to the backend.
        ...(changes ? { Origin: origin, Referer: `${origin}/` } : {}),
        ...(changes && csrf !== undefined && token !== undefined ? { [csrf.header]: decoded(token) } : {}),
      };

      const settle = async (status: number, raw: readonly string[]): Promise<Disposition> => {
        if (!saysOver(status, raw)) {
          await keep(principal.grantId, sent, cookieChanges(raw, matches, clock()));
          return 'deliver';
        }
        const now = await sessions.find(principal.grantId);
        // Another request received a new cookie while this one was sent with the old one.
        if (now === undefined || header(now.cookies, matches) === cookie) {
          return over(principal, 'backend_session_over');
        }
        if (nth < MOST_SENT) return 'again';
        throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': '1' } });
      };
      const judge: NonNullable<Attempt['judge']> = (status, raw) => {
        const touched = raw.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'set-cookie');
        return touched || saysOver(status, raw) ? settle(status, raw) : 'deliver';
      };
      return { fields, judge, nth };
    },
  };
}

function overOf({ statuses, redirects }: SessionCredential['over'], loginPath: string) {
  const pattern = typeof redirects === 'string' ? compilePattern(redirects) : undefined;
  return (status: number, raw: readonly string[]): boolean => {
    if (statuses.includes(status)) return true;
    if (status < 300 || status > 399 || status === 304 || redirects === false) return false;
    const at = raw.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'location');
    const location = at === -1 ? undefined : raw[at + 1];
    if (location === undefined) return false;
    if (redirects === true) return true;
    return pattern === undefined ? pathOf(location) === loginPath : pattern.matches(location);
  };
}

function pathOf(location: string): string {
  return URL.canParse(location, 'http://backend') ? new URL(location, 'http://backend').pathname : '';
}

function cookieValue(cookies: KeptSession['cookies'], wanted: string): string | undefined {
  return cookies.findLast(([name]) => name === wanted)?.[1];
}

function header(cookies: KeptSession['cookies'], listed: (name: string) => boolean): string {
  return cookies
    .filter(([name]) => listed(name))
    .map(([name, value]) => `${name}=${value}`)
    .join('; ');
}

function changed(cookies: KeptSession['cookies'], changes: readonly CookieChange[]): KeptSession['cookies'] {
  const names = new Set(changes.map(({ name }) => name));
  return [
    ...cookies.filter(([name]) => !names.has(name)),
    ...changes.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const])),
  ];
}

/** Scripts that read such a token decode it (Laravel, Angular). One that is not encoded stays as it is. */
function decoded(value: string): string {
  try {
    const text = decodeURIComponent(value);
    return /^[\x20-\x7E]*$/.test(text) ? text : value;
  } catch {
    return value;
  }
}
