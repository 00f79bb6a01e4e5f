import { LRUCache } from 'lru-cache';
import { compilePattern } from '../../config/pattern.ts';
import type { SessionCredential } from '../../config/upstream-credential.ts';
import { GatewayError } from '../../errors.ts';
import { cookieMatcher } from '../../http/cookie-names.ts';
import { fieldValues } from '../../http/field-values.ts';
import { SESSION_OVER, type SessionOver } from '../../oauth/challenge.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallUpstream } from '../request.ts';
import { type Credential, type Disposition, NOTHING } from './credential.ts';
import { changed, cookieValue, decoded, header, type SessionCookies } from './session-cookies.ts';
import { cookieChanges } from './set-cookie.ts';

/** The member's own session at the backends, stored with one grant. */
interface KeptSession {
  readonly grantId: string;
  readonly cookies: SessionCookies;
  /** Incremented on every change. */
  readonly revision: number;
}

/** The session store. Every method throws GatewayError `store_unavailable`. */
interface KeptSessions {
  find(grantId: string): Promise<KeptSession | undefined>;
  /** Replaces the cookies of a session as it was found. Returns false if the session has changed or ended since. */
  replace(found: KeptSession, cookies: SessionCookies): Promise<boolean>;
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

interface Replay extends SessionReplayOptions {
  readonly lookedAt: LRUCache<string, number>;
  /** Whether a cookie belongs to the session, the CSRF token included. */
  readonly matches: (name: string) => boolean;
  readonly saysOver: (status: number, raw: readonly string[]) => boolean;
}

/**
 * Sends a backend the session that the member had there when they approved the app, and stores the cookies that the
 * backend sets. When the backend reports that the session is over, the grant ends: only the member can start another.
 */
export function sessionReplay(options: SessionReplayOptions): Credential {
  const { config, sessions, origin, lookedAt = lookedAtSessions() } = options;
  const { csrf } = config;
  const matches = cookieMatcher(csrf === undefined ? config.cookies : [...config.cookies, csrf.cookie]);
  const isSession = cookieMatcher(config.cookies);
  const replay: Replay = { ...options, lookedAt, matches, saysOver: overOf(config.over, options.loginPath) };

  return {
    async attempt(principal, method, before) {
      if (principal.kind !== 'member') return NOTHING;
      const kept = await sessions.find(principal.grantId);
      if (kept === undefined || !kept.cookies.some(([name]) => isSession(name))) {
        return over(replay, principal, 'backend_session_missing');
      }
      let found = await ofMember(replay, principal, kept);
      if (found === SESSION_OVER) return found;
      const changes = !SAFE.has(method);
      if (changes && csrf?.path !== undefined && cookieValue(found.cookies, csrf.cookie) === undefined) {
        found = await withCsrf(replay, found, csrf.path);
      }
      const { cookies: sent } = found;
      const nth = (before?.nth ?? 0) + 1;
      const token = csrf === undefined ? undefined : cookieValue(sent, csrf.cookie);
      const fields = {
        Cookie: header(sent, matches),
        // As a page of the site would send them: the app's own Origin and Referer mean nothing to the backend.
        ...(changes ? { Origin: origin, Referer: `${origin}/` } : {}),
        ...(changes && csrf !== undefined && token !== undefined ? { [csrf.header]: decoded(token) } : {}),
      };
      return {
        fields,
        nth,
        judge(status, raw) {
          const touched = fieldValues(raw, 'set-cookie').length > 0;
          const isOver = replay.saysOver(status, raw);
          return touched || isOver ? settle(replay, principal, { sent, nth }, isOver, raw) : 'deliver';
        },
      };
    },
  };
}

async function over({ ended }: Replay, member: MemberPrincipal, why: WhyOver): Promise<SessionOver> {
  await ended(member, why);
  return SESSION_OVER;
}

/**
 * Stores the cookies that a backend set. A cookie that another request has changed since is left alone: a response to
 * an old cookie may well belong to an anonymous session.
 * @param sent the cookies that the request was sent with
 * @param raw the response's fields
 */
async function keep(
  { sessions, matches, clock }: Replay,
  grantId: string,
  sent: SessionCookies,
  raw: readonly string[],
): Promise<void> {
  const changes = cookieChanges(raw, matches, clock());
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

/** Stores the cookies of one of our own calls, and returns the session as it is now. */
async function keepOwn(replay: Replay, found: KeptSession, setCookie: readonly string[]): Promise<KeptSession> {
  const raw = setCookie.flatMap((value) => ['set-cookie', value]);
  await keep(replay, found.grantId, found.cookies, raw);
  return (await replay.sessions.find(found.grantId)) ?? found;
}

/**
 * A session can pass to another member who signs in later in the same browser, so the backend is asked whose it is.
 * Returns the session as it is now. Ends the grant if the session is no longer the member's.
 */
async function ofMember(
  replay: Replay,
  member: MemberPrincipal,
  session: KeptSession,
): Promise<KeptSession | SessionOver> {
  const { config, sessions, owner, clock, lookedAt, matches } = replay;
  let found = session;
  for (let tries = 0; tries < MOST_SENT; tries += 1) {
    const before = lookedAt.get(member.grantId);
    const now = clock();
    // If the clock was set back, check again now instead of skipping the check for a long time.
    if (before !== undefined && now >= before && now - before < config.check * 1000) return found;
    const { sub, setCookie } = await owner(header(found.cookies, matches));
    if (sub === member.sub) {
      lookedAt.set(member.grantId, now);
      return keepOwn(replay, found, setCookie);
    }
    const newer = await sessions.find(found.grantId);
    if (newer === undefined || header(newer.cookies, matches) === header(found.cookies, matches)) {
      return over(replay, member, sub === undefined ? 'backend_session_over' : 'backend_session_of_another');
    }
    // Another request received a new cookie while the old one was checked.
    found = newer;
  }
  throw tryLater();
}

/** Fetches the CSRF token that a state-changing request needs if there is none yet. Returns the session including it. */
async function withCsrf(replay: Replay, found: KeptSession, path: string): Promise<KeptSession> {
  const { call, upstream, matches } = replay;
  const answer = await call({ upstream, method: 'GET', path, headers: { cookie: header(found.cookies, matches) } });
  return keepOwn(replay, found, (answer.headers['set-cookie'] ?? '').split('\n'));
}

/** What to do with a response that sets cookies or says that the session is over. */
async function settle(
  replay: Replay,
  member: MemberPrincipal,
  { sent, nth }: { readonly sent: SessionCookies; readonly nth: number },
  isOver: boolean,
  raw: readonly string[],
): Promise<Disposition> {
  const { sessions, matches } = replay;
  if (!isOver) {
    await keep(replay, member.grantId, sent, raw);
    return 'deliver';
  }
  const now = await sessions.find(member.grantId);
  // Another request received a new cookie while this one was sent with the old one.
  if (now === undefined || header(now.cookies, matches) === header(sent, matches)) {
    return over(replay, member, 'backend_session_over');
  }
  if (nth < MOST_SENT) return 'again';
  throw tryLater();
}

function tryLater(): GatewayError {
  return new GatewayError('upstream_unavailable', { headers: { 'retry-after': '1' } });
}

function overOf({ statuses, redirects }: SessionCredential['over'], loginPath: string) {
  const pattern = typeof redirects === 'string' ? compilePattern(redirects) : undefined;
  return (status: number, raw: readonly string[]): boolean => {
    if (statuses.includes(status)) return true;
    if (status < 300 || status > 399 || status === 304 || redirects === false) return false;
    const [location] = fieldValues(raw, 'location');
    if (location === undefined) return false;
    if (redirects === true) return true;
    return pattern === undefined ? pathOf(location) === loginPath : pattern.matches(location);
  };
}

function pathOf(location: string): string {
  return URL.canParse(location, 'http://backend') ? new URL(location, 'http://backend').pathname : '';
}
