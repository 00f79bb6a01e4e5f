import { HOST_PREFIX } from '../http/own-cookie.ts';

/** oidc-provider's cookies by purpose. They are never forwarded to an upstream. */
export const COOKIE_NAMES = {
  session: 'coursegate_session',
  interaction: 'coursegate_interaction',
  resume: 'coursegate_resume',
} as const;

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
