import type { Cause } from './cause.ts';
import { lastOfKind, says } from './cause.ts';

/** The app has a token, and it was not accepted. */
export const USE: readonly Cause[] = [
  {
    id: 'audience-mismatch',
    fits: (stopped) => says(stopped, 'issued for another resource'),
    values: (stopped) => ({ issuedFor: lastOfKind(stopped, 'token')?.parameters?.resource ?? 'another resource' }),
  },
  {
    id: 'scope-missing',
    fits: ({ at }) => at.error === 'insufficient_scope',
  },
  {
    id: 'backend-session-over',
    fits: ({ at }) => at.detail === 'session_over',
  },
  {
    id: 'token-key',
    fits: (stopped) => says(stopped, 'bound to a key'),
  },
  {
    id: 'expired-not-refreshed',
    fits: ({ at, attempt }) =>
      at.error === 'invalid_token' && attempt.steps.some(({ kind, error }) => kind === 'token' && error === undefined),
  },
  {
    id: 'token-unknown',
    fits: ({ at }) => at.kind === 'use',
  },
];
