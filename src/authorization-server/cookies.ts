/** oidc-provider's cookies, by the job they do. They never go to an upstream. */
export const COOKIE_NAMES = {
  session: 'coursegate_session',
  interaction: 'coursegate_interaction',
  resume: 'coursegate_resume',
} as const;
