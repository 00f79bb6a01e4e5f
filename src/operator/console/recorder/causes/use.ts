import type { Cause } from './cause.ts';
import { lastOfKind, says, sent } from './cause.ts';

const REFUSED = 'docs/troubleshooting.md#an-apps-request-is-refused';

/** The app has a token, and it was not accepted. */
export const USE: readonly Cause[] = [
  {
    id: 'audience-mismatch',
    fits: (stopped) => says(stopped, 'issued for another resource'),
    title: 'The token is for another address',
    why: (stopped) =>
      `The app used its token at ${stopped.at.endpoint}. The token was issued for ${lastOfKind(stopped, 'token')?.parameters?.resource ?? 'another resource'}, and each resource needs its own.`,
    operator:
      'Check the address that was entered in the app. If both should take the same tokens, remove the path from `resources`.',
    developer: 'Ask for a token with `resource` of the protected resource metadata that the challenge names.',
    docs: REFUSED,
  },
  {
    id: 'scope-missing',
    fits: ({ at }) => at.error === 'insufficient_scope',
    title: 'The token lacks a scope',
    why: (stopped) =>
      `The app used its token at ${stopped.at.endpoint}, where the scopes ${sent(stopped, 'scope')} are needed. The app asked for less, or the member approved less, and it did not ask again.`,
    developer: 'On a 403 with insufficient_scope, authorize again with the scopes in WWW-Authenticate.',
    docs: REFUSED,
  },
  {
    id: 'backend-session-over',
    fits: ({ at }) => at.detail === 'session_over',
    title: 'The member’s session at your site is over',
    why: () =>
      'The app acts with the member’s own session at the backend, and that session has ended. The member must sign in again.',
    operator: 'Apps stay connected for as long as your backend keeps a session.',
    docs: 'docs/troubleshooting.md#members-are-signed-out-of-their-apps',
  },
  {
    id: 'token-key',
    fits: (stopped) => says(stopped, 'bound to a key'),
    title: 'The token needs a proof of its key',
    why: ({ at }) => `The gate answered: ${at.description}.`,
    developer: 'Send a token that is bound to a key with the DPoP scheme and a proof, and any other with Bearer.',
    docs: 'docs/clients.md#tokens',
  },
  {
    id: 'expired-not-refreshed',
    fits: ({ at, attempt }) =>
      at.error === 'invalid_token' && attempt.steps.some(({ kind, error }) => kind === 'token' && error === undefined),
    title: 'The app goes on with an old token and does not refresh',
    why: () =>
      'The access token has expired or was revoked. The app got a 401 and did not refresh, nor did it send the member to approve again. Many apps show this only as a tool that does not answer.',
    operator: 'The member disconnects and connects again in the app.',
    developer: 'On a 401 with invalid_token, refresh once with the refresh token. If that fails, authorize again.',
    docs: REFUSED,
  },
  {
    id: 'token-unknown',
    fits: ({ at }) => at.kind === 'use',
    title: 'The token is not valid here',
    why: ({ at }) => `The app used a token at ${at.endpoint} that this gate does not accept: ${at.description}.`,
    operator: 'If it happens to all apps after a restart, the store or its secret was lost.',
    developer: 'On a 401 with invalid_token, refresh or authorize again.',
    docs: REFUSED,
  },
];
