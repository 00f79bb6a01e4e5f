import type { Cause, Stopped } from './cause.ts';
import { lastOfKind, says, sent } from './cause.ts';

const atToken = ({ at }: Stopped): boolean => at.kind === 'token' || at.kind === 'refresh';
const isCode = (stopped: Stopped): boolean => stopped.at.kind === 'token' && stopped.at.error === 'invalid_grant';
const isSecret = ({ at }: Stopped): boolean => at.error === 'invalid_client' && at.kind !== 'authorization';

/** The code was not exchanged, or the token not refreshed. */
export const TOKEN: readonly Cause[] = [
  {
    id: 'token-content-type',
    fits: (stopped) => atToken(stopped) && sent(stopped, 'content-type') !== '',
  },
  {
    id: 'secret-missing',
    fits: (stopped) => isSecret(stopped) && sent(stopped, 'client_secret') + sent(stopped, 'authorization') === '',
  },
  {
    id: 'secret-wrong',
    fits: (stopped) => isSecret(stopped) && says(stopped, 'invalid secret'),
  },
  {
    id: 'client-authentication',
    fits: isSecret,
  },
  {
    id: 'code-reused',
    fits: (stopped) => isCode(stopped) && says(stopped, 'used before'),
  },
  {
    id: 'verifier-mismatch',
    fits: (stopped) => isCode(stopped) && says(stopped, 'code_verifier'),
  },
  {
    id: 'redirect-at-token',
    fits: (stopped) => isCode(stopped) && says(stopped, 'redirect_uri'),
  },
  {
    id: 'clock-skew',
    fits: (stopped) =>
      /\biat\b|too far from|clock|not recent|acceptable|skew/.test(`${stopped.at.description} ${stopped.at.detail}`) &&
      isProof(stopped),
  },
  {
    id: 'dpop-proof',
    fits: (stopped) => isProof(stopped) || says(stopped, 'DPoP proof') || says(stopped, 'bound to another key'),
  },
  {
    id: 'member-gone',
    fits: (stopped) => atToken(stopped) && says(stopped, 'lets this member connect no apps'),
  },
  {
    id: 'code-expired',
    fits: (stopped) => isCode(stopped) && secondsLate(stopped) >= stopped.codeLifetime,
    values: (stopped) => ({ seconds: secondsLate(stopped) }),
  },
  {
    id: 'code-unknown',
    fits: isCode,
  },
  {
    id: 'refresh-reused',
    fits: (stopped) => says(stopped, 'the refresh token was used before;'),
  },
  {
    id: 'refresh-refused',
    fits: ({ at }) => at.kind === 'refresh',
  },
  {
    id: 'token-refused',
    fits: ({ at }) => at.kind === 'token' && at.status >= 400,
  },
  {
    id: 'token-never-used',
    fits: ({ at }) => at.kind === 'token',
  },
  {
    id: 'code-never-redeemed',
    fits: ({ at }) => at.kind === 'code' && at.error === undefined,
  },
];

function isProof({ at }: Stopped): boolean {
  return at.error === 'invalid_dpop_proof' || at.error === 'use_dpop_nonce';
}

function secondsLate(stopped: Stopped): number {
  const code = lastOfKind(stopped, 'code');
  return code === undefined ? 0 : Math.round((stopped.at.since - code.since) / 1000);
}
