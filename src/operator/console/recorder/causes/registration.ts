import { type Cause, type Stopped, sent } from './cause.ts';

/** The app could not make itself known. */
export const REGISTRATION: readonly Cause[] = [
  { id: 'registration-closed', kind: 'registration', fits: ({ at }) => at.status === 404 },
  { id: 'registration-token', kind: 'registration', error: 'invalid_token' },
  { id: 'registration-limit', fits: ({ at }) => at.status === 429 },
  { id: 'auth-method-unsupported', kind: 'registration', says: 'token_endpoint_auth_method' },
  { id: 'redirect-scheme', kind: 'registration', says: 'scheme' },
  {
    id: 'redirect-uri-refused',
    kind: 'registration',
    error: 'invalid_redirect_uri',
    values: (stopped) => ({ redirect_uris: sent(stopped, 'redirect_uris') || 'no redirect URI' }),
  },
  { id: 'registration-refused', kind: 'registration', fits: ({ at }) => at.status >= 400 },
  { id: 'registered-only', kind: 'registration' },
  {
    id: 'document-unavailable',
    kind: 'client-document',
    fits: ({ at }) => /^(?:unavailable|gone|busy|overdue)/.test(at.detail ?? ''),
    values: reasonOf,
  },
  {
    id: 'app-disabled',
    fits: ({ at }) => at.outcome === 'disabled' || at.detail?.includes('disabled') === true,
  },
  { id: 'document-wrong', kind: 'client-document', values: reasonOf },
];

/** The message of a failed document, which follows its kind. */
function reasonOf({ at: { detail = '' } }: Stopped) {
  return { reason: detail.slice(detail.indexOf(':') + 1).trim() };
}
