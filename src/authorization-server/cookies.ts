import { HOST_PREFIX } from '../http/own-cookie.ts';

/** oidc-provider's cookies, by the job they do. They never go to an upstream. */
export const COOKIE_NAMES = {
  session: 'coursegate_session',
  interaction: 'coursegate_interaction',
  resume: 'coursegate_resume',
} as const;

/** One cookie of our own sign-in: for this host alone, and of no use to a script. */
export interface OwnCookie {
  readonly name: string;
  /** In: its value and its lifetime in seconds, 0 to end it. Out: the Set-Cookie field. */
  set(value: string, lifetime: number): string;
}

/** Plain http is for trying out: there the prefix would keep the cookie from being set. */
export function ownCookie(origin: string, job: string): OwnCookie {
  const secure = origin.startsWith('https:');
  const name = `${secure ? HOST_PREFIX : ''}coursegate_${job}`;
  return {
    name,
    set: (value, lifetime) =>
      `${name}=${value}; Path=/; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
}
