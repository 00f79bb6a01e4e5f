import type { Cause, Stopped } from './cause.ts';
import { says, sent } from './cause.ts';

/** The app could not make itself known. */
export const REGISTRATION: readonly Cause[] = [
  {
    id: 'registration-closed',
    fits: ({ at }) => at.kind === 'registration' && at.status === 404,
  },
  {
    id: 'registration-token',
    fits: ({ at }) => at.kind === 'registration' && at.error === 'invalid_token',
  },
  {
    id: 'registration-limit',
    fits: ({ at }) => at.status === 429,
  },
  {
    id: 'auth-method-unsupported',
    fits: (stopped) => stopped.at.kind === 'registration' && says(stopped, 'token_endpoint_auth_method'),
  },
  {
    id: 'redirect-scheme',
    fits: (stopped) => stopped.at.kind === 'registration' && says(stopped, 'scheme'),
  },
  {
    id: 'redirect-uri-refused',
    fits: ({ at }) => at.kind === 'registration' && at.error === 'invalid_redirect_uri',
    values: (stopped) => ({ redirect_uris: sent(stopped, 'redirect_uris') || 'no redirect URI' }),
  },
  {
    id: 'registration-refused',
    fits: ({ at }) => at.kind === 'registration' && at.status >= 400,
  },
  {
    id: 'registered-only',
    fits: ({ at }) => at.kind === 'registration',
  },
  {
    id: 'document-unavailable',
    fits: ({ at }) => at.kind === 'client-document' && /^(?:unavailable|gone|busy|overdue)/.test(at.detail ?? ''),
    values: reasonOf,
  },
  {
    id: 'app-disabled',
    fits: ({ at }) => at.outcome === 'disabled' || at.detail?.includes('disabled') === true,
  },
  {
    id: 'document-wrong',
    fits: ({ at }) => at.kind === 'client-document',
    values: reasonOf,
  },
];

/** The message of a failed document, which follows its kind. */
function reasonOf({ at: { detail = '' } }: Stopped) {
  return { reason: detail.slice(detail.indexOf(':') + 1).trim() };
}
