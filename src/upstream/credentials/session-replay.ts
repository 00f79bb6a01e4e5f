import { LRUCache } from 'lru-cache';
import { compilePattern } from '../../config/pattern.ts';
import type { SessionCredential } from '../../config/upstream-credential.ts';
import { GatewayError } from '../../errors.ts';
import { cookieMatcher } from '../../http/cookie-names.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallUpstream } from '../request.ts';
import { type Attempt, type Credential, type Disposition, NOTHING } from './credential.ts';
import { type CookieChange, cookieChanges } from './set-cookie.ts';

/** The member's own session at the backends, as it hangs on one grant. */
interface KeptSession {
  readonly grantId: string;
  /** Name and value, as the browser sent them or a backend set them last. */
  readonly cookies: readonly (readonly [name: string, value: string])[];
  /** Goes up with every change. */
  readonly revision: number;
}

/** Where sessions are kept. Every method throws GatewayError `store_unavailable`. */
interface KeptSessions {
  find(grantId: string): Promise<KeptSession | undefined>;
  /** In: a session as it was found, and its cookies from now on. Out: false when it has changed, or ended, since. */
  replace(found: KeptSession, cookies: KeptSession['cookies']): Promise<boolean>;
}

type WhyOver = 'backend_session_over' | 'backend_session_missing' | 'backend_session_of_another';

/** In: a Cookie field. Out: whose session the backend says it is, undefined for nobody's, and what it set meanwhile. */
type SessionOwner = (
  cookie: string,
) => Promise<{ readonly sub: string | undefined; readonly setCookie: readonly string[] }>;

export interface SessionReplayOptions {
  readonly config: SessionCredential;
  readonly upstream: string;
  readonly sessions: KeptSessions;
  /** Ends the grant: the member must sign in and approve anew. */
  readonly ended: (member: MemberPrincipal, why: WhyOver) => Promise<void>;
  readonly call: CallUpstream;
  /** Throws GatewayError `login_unavailable` when the backend cannot say. */
  readonly owner: SessionOwner;
  /** The path of the page that members sign in on. */
  readonly loginPath: string;
  /** Our public origin. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** When sessions were looked at before. */
  readonly lookedAt?: LRUCache<string, number>;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Requests of one grant that may change its cookies at the same moment, before one of them gives up. */
const TRIES = 50;
/** How often a request follows a cookie that others change while it is on its way. */
const MOST_SENT = 8;
/** Grants that it is remembered of when their session was looked at; of others it is asked again. */
const REMEMBERED = 10_000;

/** None yet. */
export function lookedAtSessions(): LRUCache<string, number> {
  return new LRUCache({ max: REMEMBERED });
}

/**
 * Shows a backend the session that the member had there when they approved the app. What the backend sets is kept in its
 * place. When it says that the session is over the grant ends: nobody but the member can begin another.
 */
export function sessionReplay(options: SessionReplayOptions): Credential {
  const { config, upstream, sessions, ended, call, owner, origin, clock, lookedAt = lookedAtSessions() } = options;
  const { csrf } = config;
  const matches = cookieMatcher(csrf === undefined ? config.cookies : [...config.cookies, csrf.cookie]);
  const isSession = cookieMatcher(config.cookies);
  const saysOver = overOf(config.over, options.loginPath);

  const over = async (member: MemberPrincipal, why: WhyOver): Promise<never> => {
    await ended(member, why);
    throw new GatewayError('session_over');
  };

  /**
   * Takes over what a backend set. In: the cookies that the request went with. What another request has changed since
   * stays: an answer to an old cookie may well be one that was given to nobody.
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
   * A session can pass to whoever signs in next in the same browser: the backend is asked whose it is. Out: the session,
   * as it is now. Ends the grant when it is not the member's any more.
   */
  const ofMember = async (member: MemberPrincipal, found: KeptSession): Promise<KeptSession> => {
    for (let tries = 0; tries < MOST_SENT; tries += 1) {
      const before = lookedAt.get(member.grantId);
      const now = clock();
      // A clock that was set back asks again, rather than not for a long time.
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
      // Another request got a new cookie while the old one was looked at.
      found = later;
    }
    throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': '1' } });
  };

  /** Asks for the token that goes with a change, where there is none yet. Out: the session with it. */
  const withCsrf = async (found: KeptSession, path: string): Promise<KeptSession> => {
    const answer = await call({ upstream, method: 'GET', path, headers: { cookie: header(found.cookies, matches) } });
    const raw = (answer.headers['set-cookie'] ?? '').split('\n').flatMap((value) => ['set-cookie', value]);
    await keep(found.grantId, found.cookies, cookieChanges(raw, matches, clock()));
    return (await sessions.find(found.grantId)) ?? found;
  };

  return {
    async attempt(principal, method, before) {
      if (principal.kind !== 'member') return NOTHING;
      let found = await sessions.find(principal.grantId);
      if (found === undefined || !found.cookies.some(([name]) => isSession(name))) {
        return over(principal, 'backend_session_missing');
      }
      found = await ofMember(principal, found);
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
        // As a page of the site itself would: what the app says of where it comes from is no concern of the backend's.
        ...(changes ? { Origin: origin, Referer: `${origin}/` } : {}),
        ...(changes && csrf !== undefined && token !== undefined ? { [csrf.header]: decoded(token) } : {}),
      };

      const settle = async (status: number, raw: readonly string[]): Promise<Disposition> => {
        if (!saysOver(status, raw)) {
          await keep(principal.grantId, sent, cookieChanges(raw, matches, clock()));
          return 'deliver';
        }
        const now = await sessions.find(principal.grantId);
        // Another request got a new cookie while this one was on its way with the old.
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

/** Such a token is read by scripts, which decode it (Laravel, Angular); one that is not encoded stays as it is. */
function decoded(value: string): string {
  try {
    const text = decodeURIComponent(value);
    return /^[\x20-\x7E]*$/.test(text) ? text : value;
  } catch {
    return value;
  }
}
