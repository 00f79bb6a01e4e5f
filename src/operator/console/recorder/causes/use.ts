import { type Cause, lastOfKind } from './cause.ts';

/** The app has a token, and it was not accepted. */
export const USE: readonly Cause[] = [
  {
    id: 'audience-mismatch',
    says: 'issued for another resource',
    values: (stopped) => ({ issuedFor: lastOfKind(stopped, 'token')?.parameters?.resource ?? 'another resource' }),
  },
  { id: 'scope-missing', error: 'insufficient_scope' },
  { id: 'backend-session-over', fits: ({ at }) => at.detail === 'session_over' },
  { id: 'token-key', says: 'bound to a key' },
  {
    id: 'expired-not-refreshed',
    error: 'invalid_token',
    fits: ({ attempt }) => attempt.steps.some(({ kind, error }) => kind === 'token' && error === undefined),
  },
  { id: 'token-unknown', kind: 'use' },
];
