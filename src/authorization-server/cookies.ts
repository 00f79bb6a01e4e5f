/** oidc-provider's cookies, by the job they do. They never go to an upstream. */
export const COOKIE_NAMES = {
  session: 'coursegate_session',
  interaction: 'coursegate_interaction',
  resume: 'coursegate_resume',
} as const;

/** Whether a cookie is one of ours, signature cookies included. */
export function isOwnCookie(name: string): boolean {
  return name.startsWith('coursegate_');
}
