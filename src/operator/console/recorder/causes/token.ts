import type { Cause, Stopped } from './cause.ts';
import { lastOfKind, says, sent } from './cause.ts';

const ERRORS = 'docs/clients.md#errors';
const TOKENS = 'docs/clients.md#tokens';
const SIGNED_OUT = 'docs/troubleshooting.md#members-are-signed-out-of-their-apps';
const BLOCKED = 'docs/troubleshooting.md#an-app-connects-and-then-nothing-comes';

const atToken = ({ at }: Stopped): boolean => at.kind === 'token' || at.kind === 'refresh';
const isCode = (stopped: Stopped): boolean => stopped.at.kind === 'token' && stopped.at.error === 'invalid_grant';
const isSecret = ({ at }: Stopped): boolean => at.error === 'invalid_client' && at.kind !== 'authorization';

/** The code was not exchanged, or the token not refreshed. */
export const TOKEN: readonly Cause[] = [
  {
    id: 'token-content-type',
    fits: (stopped) => atToken(stopped) && sent(stopped, 'content-type') !== '',
    title: 'The token request is not a form',
    why: (stopped) =>
      `The app sends its token request as ${sent(stopped, 'content-type')}. It has to be application/x-www-form-urlencoded (RFC 6749 section 4.1.3).`,
    developer: 'Send the parameters in the body as application/x-www-form-urlencoded, not as JSON.',
    docs: ERRORS,
  },
  {
    id: 'secret-missing',
    fits: (stopped) => isSecret(stopped) && sent(stopped, 'client_secret') + sent(stopped, 'authorization') === '',
    title: 'The app does not send its secret',
    why: () => 'The app is registered with a secret, and its request has no client_secret.',
    developer: 'Send client_secret in the body, or by HTTP Basic.',
    docs: ERRORS,
  },
  {
    id: 'secret-wrong',
    fits: (stopped) => isSecret(stopped) && says(stopped, 'invalid secret'),
    title: 'The app sends a wrong secret',
    why: () =>
      'The client_secret in the request is not the one that this app was given. It was often copied from another registration.',
    operator: 'If the app has a field for the secret, enter it again, or disconnect and connect again.',
    developer: 'Keep client_id and client_secret of one registration together.',
    docs: ERRORS,
  },
  {
    id: 'client-authentication',
    fits: isSecret,
    title: 'The app could not authenticate',
    why: ({ at }) => `The gate answered: ${at.description ?? at.error}. ${at.detail ?? ''}`,
    operator: 'Disconnect and connect again in the app, so that it registers again.',
    developer: 'Register again after invalid_client, and authenticate as the response of the registration says.',
    docs: ERRORS,
  },
  {
    id: 'code-reused',
    fits: (stopped) => isCode(stopped) && says(stopped, 'used before'),
    title: 'The app redeemed its code a second time',
    why: () =>
      'The app sent the same code for a second time. That could be a stolen copy, so the gate revoked everything that was issued for it (RFC 6749 section 4.1.2).',
    operator: 'Look at the audit log (code_reuse). If a proxy repeats POST requests, stop it.',
    developer: 'Redeem a code once. Make sure that a reloaded callback page does not redeem it again.',
    docs: TOKENS,
  },
  {
    id: 'verifier-mismatch',
    fits: (stopped) => isCode(stopped) && says(stopped, 'code_verifier'),
    title: 'The app sends a code_verifier of another attempt',
    why: () =>
      'The code_verifier does not fit the code_challenge of the authorization request. Usually the app was started twice, and the second attempt has overwritten the verifier of the first.',
    operator: 'Connect again with one window of the app open.',
    developer: 'Keep one code_verifier for each attempt, by its state.',
    docs: ERRORS,
  },
  {
    id: 'redirect-at-token',
    fits: (stopped) => isCode(stopped) && says(stopped, 'redirect_uri'),
    title: 'The token request has another redirect_uri',
    why: (stopped) =>
      `The app redeems the code with redirect_uri=${sent(stopped, 'redirect_uri')}, and asked for authorization with another one.`,
    developer: 'Send the same redirect_uri in both requests (RFC 6749 section 4.1.3).',
    docs: ERRORS,
  },
  {
    id: 'clock-skew',
    fits: (stopped) =>
      /\biat\b|too far from|clock|not recent|acceptable|skew/.test(`${stopped.at.description} ${stopped.at.detail}`) &&
      isProof(stopped),
    title: 'The clock of the app’s device is wrong',
    why: ({ at }) =>
      `The app proves its key with DPoP, and the time in the proof is more than a minute from the gate’s clock. The gate answered: ${at.description}.`,
    operator:
      'Check the gate’s own clock (NTP) if more than one app stops here. Otherwise the member has to set the clock of the device.',
    developer: 'After use_dpop_nonce or invalid_dpop_proof, use the nonce that the gate offers in DPoP-Nonce.',
    docs: TOKENS,
  },
  {
    id: 'dpop-proof',
    fits: (stopped) => isProof(stopped) || says(stopped, 'DPoP proof') || says(stopped, 'bound to another key'),
    title: 'The app’s DPoP proof is not valid',
    why: ({ at }) => `The gate answered: ${at.description}.`,
    developer: 'Sign a new proof for each request with the key that the token is bound to (RFC 9449 section 4).',
    docs: TOKENS,
  },
  {
    id: 'member-gone',
    fits: (stopped) => atToken(stopped) && says(stopped, 'lets this member connect no apps'),
    title: 'The member may connect no apps any more',
    why: () => 'The member was suspended, or their account has changed since they approved the app.',
    operator: 'See the member’s page in this console. After `coursegate members resume ID` the member approves again.',
    docs: SIGNED_OUT,
  },
  {
    id: 'code-expired',
    fits: (stopped) => isCode(stopped) && secondsLate(stopped) >= stopped.codeLifetime,
    title: 'The app redeemed its code too late',
    why: (stopped) =>
      `The app redeemed the code ${secondsLate(stopped)} seconds after it got it. A code is valid for ${stopped.codeLifetime} seconds.`,
    operator:
      'If the code was copied by hand, be quicker. If many apps are late, look for a slow proxy in front of the gate.',
    developer: 'Redeem the code at once.',
    docs: TOKENS,
  },
  {
    id: 'code-unknown',
    fits: isCode,
    title: 'The code is not known',
    why: ({ at }) => `The gate answered: ${at.description}.`,
    developer: 'Send the code exactly as it came, decoded once, with the client_id that asked for it.',
    docs: ERRORS,
  },
  {
    id: 'refresh-reused',
    fits: (stopped) => says(stopped, 'the refresh token was used before;'),
    title: 'The app refreshes in two places',
    why: ({ replayWindow }) =>
      `The app used a refresh token again, more than ${replayWindow} seconds after it was replaced. That could be a stolen copy, so the connection was revoked. Usually the app refreshes in two places (processes, windows, devices) that share one token.`,
    operator:
      'The member has to connect again. A longer `tokens.replayWindow` helps apps that refresh almost at the same time.',
    developer: 'Refresh in one place, one request at a time, and store the new refresh token before you use it.',
    docs: SIGNED_OUT,
  },
  {
    id: 'refresh-refused',
    fits: ({ at }) => at.kind === 'refresh',
    title: 'The app’s refresh token is not valid any more',
    why: ({ at }) => `The gate answered: ${at.description}.`,
    operator:
      'The member has to connect again. If it happens to all members at once, the store or its secret was lost.',
    developer: 'After invalid_grant, send the member to authorize again.',
    docs: SIGNED_OUT,
  },
  {
    id: 'token-refused',
    fits: ({ at }) => at.kind === 'token' && at.status >= 400,
    title: 'The token request was refused',
    why: ({ at }) => `The gate answered: ${at.description ?? at.error ?? at.status}.`,
    developer: 'Change what the description names.',
    docs: ERRORS,
  },
  {
    id: 'token-never-used',
    fits: ({ at }) => at.kind === 'token',
    title: 'The app got its token and never used it',
    why: () =>
      'The token was issued, and no request with it has arrived. In most cases something in front of the gate drops the app’s requests: bot rules of a CDN (Cloudflare’s “Block AI bots” drops Claude-User and ChatGPT-User), or a proxy that removes the Authorization field.',
    operator: 'Allow the gate’s paths in the CDN or firewall, and run `coursegate doctor URL --only edge`.',
    docs: BLOCKED,
  },
  {
    id: 'code-never-redeemed',
    fits: ({ at }) => at.kind === 'code' && at.error === undefined,
    title: 'The app got its code and never redeemed it',
    why: () =>
      'The member approved and was sent back to the app with a code, which the app never redeemed. Either the app could not read its callback (closed, another state, another window), or its request to the token endpoint does not reach the gate.',
    operator: 'Check that the CDN or firewall lets POST /api/oauth/token through: `coursegate doctor URL --only edge`.',
    developer: 'Check the log of your callback: state and iss must be the ones of this attempt.',
    docs: BLOCKED,
  },
];

function isProof({ at }: Stopped): boolean {
  return at.error === 'invalid_dpop_proof' || at.error === 'use_dpop_nonce';
}

function secondsLate(stopped: Stopped): number {
  const code = lastOfKind(stopped, 'code');
  return code === undefined ? 0 : Math.round((stopped.at.since - code.since) / 1000);
}
