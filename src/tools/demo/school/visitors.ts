import type { Request, Response } from 'express';
import type { Accounts } from './accounts.ts';
import { cookieOf } from './cookies.ts';
import type { Member } from './data/members.ts';
import { FormGuard } from './form-guard.ts';
import type { Sessions } from './sessions.ts';

/** A visitor of a page. */
export interface Visitor {
  readonly member: Member | undefined;
  /** The hidden field of every form shown to the visitor. */
  readonly csrf: string;
}

const SESSION_COOKIE = 'school_session';
const CSRF_COOKIE = 'school_csrf';
const COOKIE = { httpOnly: true, sameSite: 'lax', path: '/' } as const;

/** Recognises visitors by their cookies, and signs them in and out. */
export class Visitors {
  readonly #accounts: Accounts;
  readonly #sessions: Sessions;
  readonly #guard = new FormGuard();

  constructor(accounts: Accounts, sessions: Sessions) {
    this.#accounts = accounts;
    this.#sessions = sessions;
  }

  /** The signed-in member, if any. */
  memberOf(request: Request): Member | undefined {
    const memberId = this.#sessions.memberOf(cookieOf(request, SESSION_COOKIE));
    return memberId === undefined ? undefined : this.#accounts.byId(memberId);
  }

  /** The visitor of a page. Sets the cookie that its forms need. */
  meet(request: Request, response: Response): Visitor {
    const given = cookieOf(request, CSRF_COOKIE);
    const nonce = this.#guard.nonce(given);
    if (nonce !== given) response.cookie(CSRF_COOKIE, nonce, COOKIE);
    return { member: this.memberOf(request), csrf: this.#guard.field(nonce, this.#liveSession(request)) };
  }

  /** Whether the posted field `csrf` proves that the form came from this school. */
  postedHere(request: Request, field: string): boolean {
    return this.#guard.accepts(field, cookieOf(request, CSRF_COOKIE), this.#liveSession(request));
  }

  /** Signs a member in with a new session. Resolves to undefined when login or password is wrong. */
  async signIn(request: Request, response: Response, login: string, password: string): Promise<Member | undefined> {
    const member = await this.#accounts.check(login, password);
    if (member === undefined) return undefined;
    this.#sessions.end(cookieOf(request, SESSION_COOKIE));
    response.cookie(SESSION_COOKIE, this.#sessions.start(member.id), COOKIE);
    return member;
  }

  signOut(request: Request, response: Response): void {
    this.#sessions.end(cookieOf(request, SESSION_COOKIE));
    response.clearCookie(SESSION_COOKIE, COOKIE);
  }

  /** An expired session counts as none; otherwise forms would never be accepted again. */
  #liveSession(request: Request): string | undefined {
    return this.memberOf(request) === undefined ? undefined : cookieOf(request, SESSION_COOKIE);
  }
}
