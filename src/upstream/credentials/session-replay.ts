import { LRUCache } from 'lru-cache';
import { compilePattern } from '../../config/pattern.ts';
import { GatewayError } from '../../errors.ts';
import { cookieMatcher } from '../../http/cookie-names.ts';
import { fieldValues } from '../../http/field-values.ts';
import { SESSION_OVER, type SessionOver } from '../../oauth/challenge.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallUpstream } from '../request.ts';
import { type Credential, type Disposition, NOTHING } from './credential.ts';
import { type KeptSession, type KeptSessions, keepCookies } from './kept-session.ts';
import { changed, cookieChanges, cookieValue, decoded, header, type SessionCookies } from './session-cookies.ts';
import type { SessionCredential } from './settings.ts';

type WhyOver = 'backend_session_over' | 'backend_session_missing' | 'backend_session_of_another';

/**
 * Asks the backend whose session a Cookie field belongs to. `sub` is undefined if it is no member's session;
 * `setCookie` has the cookies that the backend set in its response.
 */
export type SessionOwner = (
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
/** How often a request is sent while other requests keep changing the cookie. */
const MOST_SENT = 8;
/** Grants for which the time of the last check is remembered. For others the backend is asked again. */
const REMEMBERED = 10_000;
/** Milliseconds for which an answer about a response in doubt is reused: an app may get many 403 in a row. */
const DOUBT_SETTLED = 5000;

/** Creates an empty cache. */
export function lookedAtSessions(): LRUCache<string, number> {
  return new LRUCache({ max: REMEMBERED });
}

/** A question whose a session is. */
interface Doubt {
  readonly askedAt: number;
  /** Resolves to undefined if it is still the member's. */
  readonly why: Promise<WhyOver | undefined>;
}

interface Replay extends SessionReplayOptions {
  readonly lookedAt: LRUCache<string, number>;
  /** By grant. */
  readonly doubts: LRUCache<string, Doubt>;
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
  const doubts = new LRUCache<string, Doubt>({ max: REMEMBERED });
  const replay: Replay = { ...options, lookedAt, doubts, matches, saysOver: overOf(config.over, options.loginPath) };

  return {
    async attempt(principal, method, before) {
      if (principal.kind !== 'member') return NOTHING;
      const kept = await sessions.find(principal.grantId);
      if (kept === undefined || !kept.cookies.some(([name]) => isSession(name)))
        return over(replay, principal, 'backend_session_missing');
      let found = await ofMember(replay, principal, kept);
      if (found === SESSION_OVER) return found;
      const changes = !SAFE.has(method);
      if (changes && csrf?.path !== undefined && cookieValue(found.cookies, csrf.cookie) === undefined)
        found = await withCsrf(replay, found, csrf.path);
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
        inspect(status, raw) {
          const setCookie = fieldValues(raw, 'set-cookie');
          const saysOver = replay.saysOver(status, raw);
          const settled = (why?: WhyOver) => settle(replay, principal, { sent, nth }, why, setCookie);
          // A 403 and a redirect may also mean that the member lacks a permission.
          if (status === 403 || (saysOver && status !== 401))
            return whyOver(replay, principal, sent, setCookie).then(settled);
          if (saysOver) return settled('backend_session_over');
          return setCookie.length > 0 ? settled() : 'deliver';
        },
      };
    },
  };
}

async function over({ ended }: Replay, member: MemberPrincipal, why: WhyOver): Promise<SessionOver> {
  await ended(member, why);
  return SESSION_OVER;
}

/** Stores the cookies of one of our own calls, and returns the session as it is now. */
async function keepOwn(replay: Replay, found: KeptSession, setCookie: readonly string[]): Promise<KeptSession> {
  await keepCookies(replay, found.grantId, found.cookies, setCookie);
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
    if (newer === undefined || header(newer.cookies, matches) === header(found.cookies, matches))
      return over(replay, member, sub === undefined ? 'backend_session_over' : 'backend_session_of_another');
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

/**
 * Asks whose the session is after a response that may mean that it is over, with the cookies as that response has left
 * them. Rejects with GatewayError `login_unavailable` if the backend does not say: the response then neither ends the
 * grant nor reaches the app, which could not tell a dead session from a missing permission.
 */
function whyOver(
  replay: Replay,
  member: MemberPrincipal,
  sent: SessionCookies,
  setCookie: readonly string[],
): Promise<WhyOver | undefined> {
  const { owner, clock, doubts, lookedAt, matches } = replay;
  const now = clock();
  const before = doubts.get(member.grantId);
  if (before !== undefined && now >= before.askedAt && now - before.askedAt < DOUBT_SETTLED) return before.why;
  const ask = async (): Promise<WhyOver | undefined> => {
    const cookies = changed(sent, cookieChanges(setCookie, matches, now));
    const current = await owner(header(cookies, matches));
    if (current.sub !== member.sub) {
      // If another request has received a new cookie, this one is repeated with it and asks again.
      doubts.delete(member.grantId);
      return current.sub === undefined ? 'backend_session_over' : 'backend_session_of_another';
    }
    lookedAt.set(member.grantId, now);
    await keepCookies(replay, member.grantId, sent, setCookie);
    await keepCookies(replay, member.grantId, cookies, current.setCookie);
    return undefined;
  };
  const why = ask();
  doubts.set(member.grantId, { askedAt: now, why });
  return why;
}

/** What to do with a response that sets cookies or says that the session is over. */
async function settle(
  replay: Replay,
  member: MemberPrincipal,
  { sent, nth }: { readonly sent: SessionCookies; readonly nth: number },
  why: WhyOver | undefined,
  setCookie: readonly string[],
): Promise<Disposition> {
  const { sessions, matches } = replay;
  if (why === undefined) {
    await keepCookies(replay, member.grantId, sent, setCookie);
    return 'deliver';
  }
  const now = await sessions.find(member.grantId);
  // Another request received a new cookie while this one was sent with the old one.
  if (now === undefined || header(now.cookies, matches) === header(sent, matches)) return over(replay, member, why);
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
