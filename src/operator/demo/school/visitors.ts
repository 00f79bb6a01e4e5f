import { createHmac, randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { cookiePairs } from '../../../http/cookie-names.ts';
import { isSameSecret } from '../../../http/same-secret.ts';
import type { Person } from './data/school-data.ts';

/** A visitor of a page. */
export interface Visitor {
  readonly member: Person | undefined;
  /** The hidden field of every form shown to the visitor. */
  readonly csrf: string;
}

/** Recognises visitors by their cookies, and signs them in and out. */
export type Visitors = ReturnType<typeof openVisitors>;

const SESSION_SECONDS = 8 * 3600;
const SESSION_COOKIE = 'school_session';
const CSRF_COOKIE = 'school_csrf';
const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** Visitors of this process: a restart signs everyone out. */
export function openVisitors(members: readonly Person[], now: () => number) {
  const key = randomBytes(32);
  const sessions = new Map<string, { readonly member: Person; readonly since: number }>();

  /** The member's session, if any. */
  const sessionOf = (request: Request) => {
    const session = sessions.get(cookieOf(request, SESSION_COOKIE));
    return session !== undefined && session.since + SESSION_SECONDS > now() ? session : undefined;
  };
  // With the session, so that a planted cookie does not work for a signed-in visitor.
  const csrfFor = (request: Request, cookie: string): string => {
    const session = sessionOf(request) && cookieOf(request, SESSION_COOKIE);
    return createHmac('sha256', key).update(`${cookie}.${session}`).digest('base64url');
  };
  return {
    sessionOf,
    /** The visitor of a page. Sets the cookie that its forms need. */
    meet(request: Request, response: Response): Visitor {
      const cookie = cookieOf(request, CSRF_COOKIE) || randomBytes(16).toString('base64url');
      response.cookie(CSRF_COOKIE, cookie, COOKIE);
      return { member: sessionOf(request)?.member, csrf: csrfFor(request, cookie) };
    },
    /** Whether the posted field `csrf` proves that the form was shown to this visitor. */
    postedHere(request: Request, field: string): boolean {
      const cookie = cookieOf(request, CSRF_COOKIE);
      return cookie !== '' && isSameSecret(field, csrfFor(request, cookie));
    },
    /** Signs a member in with a new session. Returns false when login or password is wrong. */
    signIn(request: Request, response: Response, login: string, password: string): boolean {
      const member = members.find(({ email }) => email === login.trim().toLowerCase());
      if (member === undefined || !isSameSecret(password, member.password)) return false;
      for (const [id, { since }] of sessions) if (since + SESSION_SECONDS <= now()) sessions.delete(id);
      sessions.delete(cookieOf(request, SESSION_COOKIE));
      const id = randomBytes(32).toString('base64url');
      sessions.set(id, { member, since: now() });
      response.cookie(SESSION_COOKIE, id, COOKIE);
      return true;
    },
    signOut(request: Request, response: Response): void {
      sessions.delete(cookieOf(request, SESSION_COOKIE));
      response.clearCookie(SESSION_COOKIE, COOKIE);
    },
  };
}

/** The raw value of a cookie, or '' without one. */
function cookieOf(request: Request, name: string): string {
  const pair = cookiePairs(request.get('cookie') ?? '').find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? '';
}
