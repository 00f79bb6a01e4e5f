import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { cookiePairs } from '../../../http/cookie-names.ts';
import { hashPassword, type PasswordHash, readPasswordHash } from '../../../passwords/password-hash.ts';
import type { Member } from './data/members.ts';

/** A visitor of a page. */
export interface Visitor {
  readonly member: Member | undefined;
  /** The hidden field of every form shown to the visitor. */
  readonly csrf: string;
}

/** Recognises visitors by their cookies, and signs them in and out. */
export type Visitors = Awaited<ReturnType<typeof openVisitors>>;

const SESSION_SECONDS = 8 * 3600;
const SESSION_COOKIE = 'school_session';
const CSRF_COOKIE = 'school_csrf';
const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** Visitors of this process: a restart signs everyone out. Only hashes of the passwords are kept. */
export async function openVisitors(members: readonly Member[], now: () => number) {
  const key = randomBytes(32);
  const sessions = new Map<string, { readonly member: Member; readonly since: number }>();
  const hashes = new Map<Member, PasswordHash | undefined>();
  for (const member of members) hashes.set(member, readPasswordHash(await hashPassword(member.password)));

  const csrfFor = (request: Request, cookie: string): string => {
    // An expired session counts as none; otherwise forms would never be accepted again.
    const session = memberOf(request) === undefined ? '' : cookieOf(request, SESSION_COOKIE);
    return createHmac('sha256', key).update(`${cookie}.${session}`).digest('base64url');
  };
  const isOver = ({ since }: { readonly since: number }) => since + SESSION_SECONDS <= now();
  const sessionOf = (request: Request) => {
    const session = sessions.get(cookieOf(request, SESSION_COOKIE));
    return session === undefined || isOver(session) ? undefined : session;
  };
  const memberOf = (request: Request): Member | undefined => sessionOf(request)?.member;
  return {
    /** The signed-in member, if any. */
    memberOf,
    /** The signed-in member, if any, and when they signed in. */
    sessionOf,
    /** The visitor of a page. Sets the cookie that its forms need. */
    meet(request: Request, response: Response): Visitor {
      const cookie = cookieOf(request, CSRF_COOKIE) || randomBytes(16).toString('base64url');
      response.cookie(CSRF_COOKIE, cookie, COOKIE);
      return { member: memberOf(request), csrf: csrfFor(request, cookie) };
    },
    /**
     * Whether the posted field `csrf` proves that the form came from this school: it must match the visitor's cookie
     * and session. Both are needed, so that a planted cookie does not work for a signed-in visitor.
     */
    postedHere(request: Request, field: string): boolean {
      const cookie = cookieOf(request, CSRF_COOKIE);
      const [expected, given] = [Buffer.from(csrfFor(request, cookie)), Buffer.from(field)];
      return cookie !== '' && given.length === expected.length && timingSafeEqual(given, expected);
    },
    /** Signs a member in with a new session. Resolves to false when login or password is wrong. */
    async signIn(request: Request, response: Response, login: string, password: string): Promise<boolean> {
      const member = members.find(({ email }) => email === login.trim().toLowerCase());
      // An unknown login takes as long as a known one.
      const matches = await hashes.get(member ?? (members[0] as Member))?.verify(password);
      if (member === undefined || matches !== true) return false;
      for (const [id, session] of sessions) if (isOver(session)) sessions.delete(id);
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
