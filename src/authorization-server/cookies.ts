import { HOST_PREFIX } from '../http/own-cookie.ts';

/**
 * oidc-provider's cookies of one interaction. They are never forwarded to an upstream. Each is for the exact path of its
 * interaction, which a browser sends first: a cookie tossed from a subdomain, which cannot know that path, is not read.
 */
export const COOKIE_NAMES = {
  interaction: 'coursegate_interaction',
  resume: 'coursegate_resume',
} as const;

/** oidc-provider's session cookie, which has one path for all interactions: no subdomain may set it. */
export function sessionCookieAt(origin: string): { readonly name: string; readonly path: string } {
  return origin.startsWith('https:')
    ? { name: `${HOST_PREFIX}coursegate_session`, path: '/' }
    : { name: 'coursegate_session', path: '/oauth' };
}

/** A cookie of the gate's own sign-in: limited to this host and hidden from scripts. */
export type OwnCookie = ReturnType<typeof ownCookie>;

/** Without https, which is for trying out only, browsers would reject a cookie with the `__Host-` prefix. */
export function ownCookie(origin: string, job: string) {
  const secure = origin.startsWith('https:');
  const name = `${secure ? HOST_PREFIX : ''}coursegate_${job}`;
  return {
    name,
    /** Returns the Set-Cookie field. The lifetime is in seconds; 0 deletes the cookie. */
    set: (value: string, lifetime: number) =>
      `${name}=${value}; Path=/; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
  };
}
