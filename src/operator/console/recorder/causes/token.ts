import { type Cause, lastOfKind, type Stopped, says, sent } from './cause.ts';

const AT_TOKEN = { kind: ['token', 'refresh'] } as const;
const CODE = { kind: 'token', error: 'invalid_grant' } as const;
const PROOF_ERRORS = ['invalid_dpop_proof', 'use_dpop_nonce'];
const isSecret = ({ at }: Stopped): boolean => at.error === 'invalid_client' && at.kind !== 'authorization';

/** The code was not exchanged, or the token not refreshed. */
export const TOKEN: readonly Cause[] = [
  { id: 'token-content-type', ...AT_TOKEN, fits: (stopped) => sent(stopped, 'content-type') !== '' },
  {
    id: 'secret-missing',
    fits: (stopped) => isSecret(stopped) && sent(stopped, 'client_secret') + sent(stopped, 'authorization') === '',
  },
  { id: 'secret-wrong', says: 'invalid secret', fits: isSecret },
  { id: 'client-authentication', fits: isSecret },
  { id: 'code-reused', ...CODE, says: 'used before' },
  { id: 'verifier-mismatch', ...CODE, says: 'code_verifier' },
  { id: 'redirect-at-token', ...CODE, says: 'redirect_uri' },
  {
    id: 'clock-skew',
    error: PROOF_ERRORS,
    fits: ({ at }) => /\biat\b|too far from|clock|not recent|acceptable|skew/.test(`${at.description} ${at.detail}`),
  },
  {
    id: 'dpop-proof',
    fits: (stopped) =>
      PROOF_ERRORS.includes(stopped.at.error ?? '') ||
      says(stopped, 'DPoP proof') ||
      says(stopped, 'bound to another key'),
  },
  { id: 'member-gone', ...AT_TOKEN, says: 'lets this member connect no apps' },
  {
    id: 'code-expired',
    ...CODE,
    fits: (stopped) => secondsLate(stopped) >= stopped.codeLifetime,
    values: (stopped) => ({ seconds: secondsLate(stopped) }),
  },
  { id: 'code-unknown', ...CODE },
  { id: 'refresh-reused', says: 'the refresh token was used before;' },
  { id: 'refresh-refused', kind: 'refresh' },
  { id: 'token-refused', kind: 'token', fits: ({ at }) => at.status >= 400 },
  { id: 'token-never-used', kind: 'token' },
  { id: 'code-never-redeemed', kind: 'code', fits: ({ at }) => at.error === undefined },
];

function secondsLate(stopped: Stopped): number {
  const code = lastOfKind(stopped, 'code');
  return code === undefined ? 0 : Math.round((stopped.at.since - code.since) / 1000);
}
