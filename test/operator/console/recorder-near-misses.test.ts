import { expect, it } from 'vitest';
import type { AttemptStep } from '../../../src/operations/record/attempt.ts';
import { CAUSES, causeOf } from '../../../src/operator/console/recorder/causes/causes.ts';
import { standstillOf } from '../../../src/operator/console/recorder/state.ts';

type Noted = Partial<AttemptStep> & Pick<AttemptStep, 'kind'>;

/** Other facts of the last step, or other steps. */
type Change = Partial<AttemptStep> | readonly Noted[];

/**
 * An attempt with the cause, and how it has to differ to get another one. What the gate answers is in its own words,
 * because causes are told apart by them.
 */
type Row = readonly [steps: readonly Noted[], ...misses: readonly (readonly [Change, cause: string])[]];

const ORIGIN = 'https://gate.example';
const CODE_UNKNOWN = 'the code is not known here: it was mistyped, used, or has expired';
const EXPIRED = 'the access token has expired';
const NO_VERIFIER = 'code_verifier is missing: the authorization request had a code_challenge made with S256';
const OTHER_VERIFIER = 'code_verifier does not match the code_challenge of the authorization request (S256)';
const REFRESHED_ELSEWHERE =
  'the refresh token was used before; the connection is revoked, the member must approve again';
const OTHER_QUESTION =
  'the refresh token was used before with another scope, resource or DPoP key: use the one that replaced it';
const KEY_BOUND = 'the access token is bound to a key: send it with the DPoP scheme and a proof';

const token: Noted = { kind: 'token', status: 200 };
const refusedCode: Noted = { kind: 'token', status: 400, error: 'invalid_grant', description: CODE_UNKNOWN };
const refusedClient: Noted = {
  kind: 'token',
  status: 401,
  error: 'invalid_client',
  description: 'client authentication failed',
};
const refusedToken: Noted = { kind: 'use', status: 401, error: 'invalid_token', description: EXPIRED };
const refusedRequest: Noted = { kind: 'authorization', status: 400, error: 'invalid_request' };
const refusedRegistration: Noted = { kind: 'registration', status: 400, error: 'invalid_client_metadata' };
const metadata: Noted = { kind: 'server-metadata', endpoint: 'GET /.well-known/oauth-authorization-server' };
const guess: Noted = {
  kind: 'guess',
  endpoint: 'GET /.well-known/openid-configuration/mcp',
  status: 404,
  error: 'invalid_request',
};
const challenge: Noted = { kind: 'challenge', status: 401 };
const registered = (redirect_uris: string): Noted => ({ kind: 'registration', parameters: { redirect_uris } });
const redirecting = (redirect_uri: string): Noted => ({
  kind: 'authorization',
  status: 400,
  error: 'invalid_redirect_uri',
  parameters: { redirect_uri },
});
const asking = (error: string, parameters: Readonly<Record<string, string>>): Noted => ({
  ...{ kind: 'authorization', status: 303, error, parameters },
});
const began: Noted = { kind: 'authorization', status: 303 };
const signingIn = (outcome: string, status = 200): Noted => ({ kind: 'sign-in', outcome, status });

const ROWS: Readonly<Record<string, Row>> = {
  'rate-limit': [
    [{ kind: 'token', status: 429, error: 'temporarily_unavailable' }],
    [{ kind: 'registration' }, 'registration-limit'],
    [{ status: 400 }, 'token-refused'],
  ],
  'gate-failed': [
    [{ kind: 'consent', status: 500, error: 'server_error' }],
    [{ kind: 'sign-in' }, 'sign-in-unavailable'],
    [{ status: 403 }, 'abandoned-consent'],
  ],
  'registration-closed': [
    [{ kind: 'registration', status: 404 }],
    [{ status: 403, error: 'access_denied' }, 'registration-refused'],
    [{ kind: 'token' }, 'token-refused'],
  ],
  'registration-token': [
    [{ kind: 'registration', status: 401, error: 'invalid_token' }],
    [{ error: 'invalid_client_metadata' }, 'registration-refused'],
    [{ kind: 'use' }, 'token-unknown'],
  ],
  'registration-limit': [
    [{ kind: 'registration', status: 429, error: 'temporarily_unavailable' }],
    [{ kind: 'pushed-request' }, 'rate-limit'],
    [{ status: 413 }, 'registration-refused'],
  ],
  'auth-method-unsupported': [
    [{ ...refusedRegistration, description: 'token_endpoint_auth_method: must be none or client_secret_post' }],
    [{ description: 'grant_types: must contain authorization_code' }, 'registration-refused'],
    [{ kind: 'client-document' }, 'document-wrong'],
  ],
  'redirect-scheme': [
    [{ ...refusedRegistration, error: 'invalid_redirect_uri', description: 'uses a scheme that is not known here' }],
    [{ description: 'redirect_uris: must be an absolute URI' }, 'redirect-uri-refused'],
    [{ kind: 'client-document' }, 'document-wrong'],
  ],
  'redirect-uri-refused': [
    [{ ...refusedRegistration, error: 'invalid_redirect_uri', description: 'redirect_uris: must be an absolute URI' }],
    [{ error: 'invalid_client_metadata' }, 'registration-refused'],
    [{ kind: 'authorization', parameters: { redirect_uri: 'https://app.example/cb' } }, 'redirect-mismatch'],
  ],
  'registration-refused': [
    [refusedRegistration],
    [{ status: 201, error: undefined }, 'registered-only'],
    [{ kind: 'pushed-request' }, 'unknown'],
  ],
  'registered-only': [
    [{ kind: 'registration', status: 201 }],
    [{ status: 413 }, 'registration-refused'],
    [metadata, 'metadata-only'],
  ],
  'document-unavailable': [
    [{ kind: 'client-document', status: 400, error: 'invalid_client', detail: 'unavailable: answered with 500' }],
    [{ detail: 'invalid: is unavailable in this language' }, 'document-wrong'],
    [{ kind: 'authorization' }, 'unknown'],
  ],
  'app-disabled': [
    [{ ...refusedRequest, error: 'invalid_client', detail: 'client not found', outcome: 'disabled' }],
    [{ outcome: undefined }, 'unknown-client'],
    [{ outcome: 'suspended' }, 'unknown-client'],
  ],
  'document-wrong': [
    [{ kind: 'client-document', status: 400, error: 'invalid_client', detail: 'invalid: is not JSON' }],
    [{ detail: 'forbidden: is disabled here' }, 'app-disabled'],
    [{ detail: 'gone: answered with 410' }, 'document-unavailable'],
  ],
  'client-missing': [
    [{ ...refusedRequest, description: "missing required parameter 'client_id'" }],
    [{ description: "missing required parameter 'redirect_uri'" }, 'redirect-missing'],
    [{ error: 'invalid_client', description: undefined, detail: 'client not found' }, 'unknown-client'],
  ],
  'unknown-client': [
    [{ ...refusedRequest, kind: 'pushed-request', error: 'invalid_client', detail: 'client not found' }],
    [{ detail: 'invalid secret provided', parameters: { client_secret: 'sent' } }, 'secret-wrong'],
    [{ error: 'unauthorized_client' }, 'unknown'],
  ],
  'redirect-missing': [
    [{ ...refusedRequest, description: "missing required parameter 'redirect_uri'" }],
    [{ parameters: { redirect_uri: 'https://app.example/cb' } }, 'unknown'],
    [{ description: "missing required parameter 'client_id'" }, 'client-missing'],
    [{ kind: 'token' }, 'token-refused'],
  ],
  'redirect-slash': [
    [registered('https://app.example/cb'), redirecting('https://app.example/cb/')],
    [redirecting('https://app.example/cb/2'), 'redirect-mismatch'],
    [redirecting('https://app.example/cb'), 'redirect-mismatch'],
    [{ error: 'invalid_scope' }, 'scope-unknown'],
  ],
  'redirect-loopback-name': [
    [registered('http://127.0.0.1:4100/cb'), redirecting('http://localhost:5023/cb')],
    [redirecting('http://localhost:5023/callback'), 'redirect-mismatch'],
    [redirecting('http://127.0.0.2:5023/cb'), 'redirect-mismatch'],
    [{ error: 'invalid_scope' }, 'scope-unknown'],
  ],
  'redirect-mismatch': [
    [registered('https://app.example/cb'), redirecting('https://app.example/callback')],
    [redirecting('https://app.example/cb/'), 'redirect-slash'],
    [{ error: 'invalid_request' }, 'unknown'],
    [{ kind: 'token' }, 'token-refused'],
  ],
  'resource-missing': [
    [asking('invalid_target', { scope: 'courses:read' })],
    [asking('invalid_target', { resource: 'https://gate.example/orders' }), 'resource-path'],
    [{ error: 'invalid_scope' }, 'scope-unknown'],
  ],
  'resource-path': [
    [asking('invalid_target', { resource: 'https://gate.example/orders' })],
    [asking('invalid_target', { resource: 'https://gate.example.other/orders' }), 'resource-foreign'],
    [{ error: 'invalid_request' }, 'unknown'],
  ],
  'resource-foreign': [
    [asking('invalid_target', { resource: 'https://staging.example' })],
    [asking('invalid_target', { resource: 'https://gate.example/staging' }), 'resource-path'],
    [{ error: 'invalid_request' }, 'unknown'],
  ],
  'scope-unknown': [
    [asking('invalid_scope', { scope: 'teleport' })],
    [{ error: 'invalid_target' }, 'resource-missing'],
    [{ kind: 'use', status: 403, error: 'insufficient_scope' }, 'scope-missing'],
  ],
  'pkce-plain': [
    [
      {
        ...refusedRequest,
        description: 'this code_challenge_method is not supported: code_challenge is the SHA-256 hash',
        parameters: { code_challenge_method: 'plain' },
      },
    ],
    [{ parameters: { code_challenge_method: 'S512' } }, 'pkce-missing'],
  ],
  'pkce-missing': [
    [{ ...refusedRequest, kind: 'pushed-request', description: 'code_challenge is missing: PKCE is required.' }],
    [{ parameters: { code_challenge_method: 'plain' } }, 'pkce-plain'],
    [{ description: 'state is missing' }, 'unknown'],
    [{ ...refusedCode, description: OTHER_VERIFIER }, 'verifier-mismatch'],
  ],
  'response-type': [
    [asking('unsupported_response_type', { response_type: 'token' })],
    [{ error: 'invalid_request', description: "missing required parameter 'client_id'" }, 'client-missing'],
    [
      { kind: 'token', error: 'invalid_request', description: 'response_type is not needed', status: 400 },
      'token-refused',
    ],
  ],
  'request-object': [
    [asking('request_not_supported', { request: 'sent' })],
    [{ error: 'registration_not_supported' }, 'unknown'],
  ],
  'prompt-none': [
    [asking('login_required', { prompt: 'none' })],
    [{ error: 'invalid_request' }, 'unknown'],
    [{ parameters: { prompt: 'login' } }, 'unknown'],
  ],
  'token-in-query': [
    [token, { ...challenge, parameters: { access_token: 'sent' } }],
    [{ parameters: {} }, 'token-never-used'],
  ],
  'guessed-endpoint': [
    [{ ...guess, endpoint: 'POST /register' }],
    [{ endpoint: 'GET /.well-known/openid-configuration/mcp' }, 'metadata-address'],
    [{ kind: 'registration' }, 'registration-closed'],
  ],
  'metadata-address': [
    [guess, challenge],
    [[challenge], 'no-discovery'],
    [[metadata, guess, challenge], 'no-discovery'],
    [[guess, { kind: 'registration', status: 201 }], 'registered-only'],
    [[challenge, { kind: 'resource-metadata' }, guess, metadata], 'metadata-only'],
  ],
  'no-discovery': [
    [challenge],
    [{ kind: 'resource-metadata', status: 200 }, 'metadata-only'],
    [[guess, challenge], 'metadata-address'],
  ],
  'metadata-only': [
    [{ kind: 'resource-metadata' }, metadata],
    [{ kind: 'registration' }, 'registered-only'],
    [challenge, 'no-discovery'],
  ],
  'member-suspended': [
    [signingIn('suspended', 403)],
    [{ outcome: 'account_closed' }, 'account-closed'],
    [{ outcome: undefined }, 'abandoned-sign-in'],
  ],
  'interaction-unknown': [
    [{ ...signingIn('lost', 400), detail: 'the browser sent no cookie of the interaction' }],
    [[began, { ...signingIn('lost', 400), detail: 'the browser sent no cookie of the interaction' }], 'cookies-lost'],
    [[began, { ...signingIn('lost', 400), detail: 'the interaction is over' }], 'interaction-over'],
    [{ outcome: 'suspended' }, 'member-suspended'],
  ],
  'cookies-lost': [
    [began, { ...signingIn('lost', 400), detail: 'the browser sent no cookie of the interaction' }],
    [{ detail: 'the interaction is over' }, 'interaction-over'],
    [{ outcome: undefined }, 'abandoned-sign-in'],
  ],
  'interaction-over': [
    [began, { ...signingIn('lost', 400), detail: 'the interaction is over' }],
    [{ detail: 'the browser sent no cookie of the interaction' }, 'cookies-lost'],
    [{ outcome: 'sent' }, 'abandoned-sign-in'],
  ],
  'sign-in-unavailable': [
    [signingIn('login_unavailable', 303)],
    [{ outcome: 'not_signed_in' }, 'not-signed-in'],
    [{ kind: 'consent', status: 500 }, 'gate-failed'],
    [signingIn('sent', 403), 'abandoned-sign-in'],
  ],
  'account-closed': [[signingIn('account_closed', 403)], [{ outcome: 'account_not_allowed' }, 'abandoned-sign-in']],
  'not-signed-in': [[signingIn('not_signed_in', 403)], [{ outcome: 'not_as_asked_for' }, 'not-as-asked-for']],
  'not-as-asked-for': [[signingIn('not_as_asked_for', 403)], [{ outcome: 'not_signed_in' }, 'not-signed-in']],
  'consent-denied': [
    [{ kind: 'code', error: 'access_denied', description: 'the member did not approve' }],
    [{ description: 'the school lets this member connect no apps' }, 'unknown'],
    [{ kind: 'consent', error: undefined, description: undefined, outcome: 'shown' }, 'abandoned-consent'],
  ],
  'abandoned-consent': [
    [signingIn('signed-in', 303)],
    [{ outcome: 'sent' }, 'abandoned-sign-in'],
    [{ kind: 'consent', outcome: 'denied' }, 'consent-denied'],
    [[{ kind: 'consent', outcome: 'approved' }, { kind: 'code' }], 'code-never-redeemed'],
  ],
  'abandoned-sign-in': [
    // The app asks again without a token while its member is at the sign-in page.
    [{ kind: 'authorization', status: 303 }, challenge],
    [[asking('server_error', {}), challenge], 'unknown'],
    [[{ kind: 'pushed-request', status: 201 }, challenge], 'unknown'],
    [[signingIn('signed-in'), challenge], 'abandoned-consent'],
  ],
  'token-content-type': [
    [{ kind: 'token', status: 400, error: 'invalid_request', parameters: { 'content-type': 'application/json' } }],
    [{ parameters: {} }, 'token-refused'],
    [{ kind: 'pushed-request' }, 'unknown'],
  ],
  'secret-missing': [
    [refusedClient],
    [{ parameters: { client_secret: 'sent' } }, 'client-authentication'],
    [{ parameters: { authorization: 'Basic' } }, 'client-authentication'],
    [{ error: 'invalid_request' }, 'token-refused'],
  ],
  'secret-wrong': [
    [{ ...refusedClient, detail: 'invalid secret provided', parameters: { client_secret: 'sent' } }],
    [{ detail: undefined, description: 'authenticate with client_id and client_secret' }, 'client-authentication'],
    [{ error: 'invalid_grant' }, 'code-unknown'],
  ],
  'client-authentication': [
    [{ ...refusedClient, parameters: { client_secret: 'sent' } }],
    [{ detail: 'client not found' }, 'unknown-client'],
    [{ detail: 'invalid secret provided' }, 'secret-wrong'],
    [{ error: 'unauthorized_client' }, 'token-refused'],
  ],
  'code-reused': [
    [{ ...refusedCode, description: 'the code was used before; what was issued for it is revoked' }],
    [{ description: CODE_UNKNOWN }, 'code-unknown'],
    [{ kind: 'refresh', description: REFRESHED_ELSEWHERE }, 'refresh-reused'],
  ],
  'verifier-mismatch': [
    [{ ...refusedCode, description: OTHER_VERIFIER }],
    [{ description: NO_VERIFIER }, 'pkce-missing'],
    [{ error: 'invalid_request' }, 'token-refused'],
  ],
  'redirect-at-token': [
    [{ ...refusedCode, description: 'redirect_uri is not the one of the authorization request' }],
    [{ description: CODE_UNKNOWN }, 'code-unknown'],
    [{ error: 'invalid_request' }, 'token-refused'],
  ],
  'clock-skew': [
    [
      {
        ...refusedToken,
        error: 'invalid_dpop_proof',
        description: 'the iat of the DPoP proof is too far from the time',
      },
    ],
    [{ description: 'the htm of the DPoP proof is not the method of this request' }, 'dpop-proof'],
    [{ error: 'invalid_token', description: 'the token is not recent' }, 'token-unknown'],
  ],
  'dpop-proof': [
    [{ ...refusedToken, description: 'the access token is bound to another key' }],
    [{ description: KEY_BOUND }, 'token-key'],
    [{ description: EXPIRED }, 'token-unknown'],
    [{ kind: 'refresh', status: 400, error: 'invalid_grant', description: OTHER_QUESTION }, 'refresh-refused'],
  ],
  'member-gone': [
    [{ ...refusedCode, kind: 'refresh', description: 'the school lets this member connect no apps' }],
    [{ description: 'the member or the app has ended this connection' }, 'refresh-refused'],
    [{ kind: 'authorization', status: 303 }, 'unknown'],
  ],
  'code-expired': [
    [
      { kind: 'code', since: 0 },
      { ...refusedCode, since: 60_000 },
    ],
    [{ since: 59_000 }, 'code-unknown'],
    [{ error: 'invalid_request' }, 'token-refused'],
    [[{ ...refusedCode, since: 60_000 }], 'code-unknown'],
  ],
  'code-unknown': [
    [
      { kind: 'code', since: 0 },
      { ...refusedCode, since: 1000 },
    ],
    [{ since: 61_000 }, 'code-expired'],
    [{ error: 'invalid_request' }, 'token-refused'],
    [{ kind: 'refresh' }, 'refresh-refused'],
  ],
  'refresh-reused': [
    [{ kind: 'refresh', status: 400, error: 'invalid_grant', description: REFRESHED_ELSEWHERE }],
    [{ description: OTHER_QUESTION }, 'refresh-refused'],
    [{ kind: 'token' }, 'code-reused'],
  ],
  'refresh-refused': [
    [{ ...refusedCode, kind: 'refresh', description: 'this connection has reached its longest lifetime' }],
    [{ description: REFRESHED_ELSEWHERE }, 'refresh-reused'],
    [{ kind: 'token' }, 'code-unknown'],
  ],
  'token-refused': [
    [{ kind: 'token', status: 400, error: 'unsupported_grant_type' }],
    [{ status: 200, error: undefined }, 'token-never-used'],
    [{ kind: 'refresh' }, 'refresh-refused'],
  ],
  'token-never-used': [[token], [{ status: 413 }, 'token-refused'], [{ kind: 'code' }, 'code-never-redeemed']],
  'code-never-redeemed': [
    [{ kind: 'code', status: 303 }],
    [{ error: 'server_error' }, 'unknown'],
    [{ kind: 'authorization' }, 'abandoned-sign-in'],
  ],
  'audience-mismatch': [
    [token, { ...refusedToken, description: 'the access token was issued for another resource' }],
    [{ description: EXPIRED }, 'expired-not-refreshed'],
    [{ kind: 'token', error: 'invalid_target' }, 'resource-missing'],
  ],
  'scope-missing': [
    [{ kind: 'use', status: 403, error: 'insufficient_scope' }],
    [{ error: 'invalid_token' }, 'token-unknown'],
  ],
  'backend-session-over': [
    [token, { ...refusedToken, description: 'the member must sign in again', detail: 'session_over' }],
    [{ detail: undefined }, 'expired-not-refreshed'],
  ],
  'token-key': [
    [token, { ...refusedToken, description: KEY_BOUND }],
    [{ description: 'the access token is bound to another key' }, 'dpop-proof'],
    [{ description: EXPIRED }, 'expired-not-refreshed'],
    [{ kind: 'refresh', description: 'the refresh token is bound to a key: send a DPoP proof' }, 'dpop-proof'],
  ],
  'expired-not-refreshed': [
    [token, refusedToken],
    [[refusedCode, refusedToken], 'token-unknown'],
    [[{ kind: 'refresh' }, refusedToken], 'token-unknown'],
    [{ status: 400, error: 'invalid_request', description: 'more than one Authorization header' }, 'token-unknown'],
    [{ kind: 'refresh', error: 'invalid_grant' }, 'refresh-refused'],
  ],
  'token-unknown': [
    [refusedToken],
    [[token, refusedToken], 'expired-not-refreshed'],
    [{ kind: 'revocation', status: 400, error: 'unsupported_token_type' }, 'unknown'],
  ],
  unknown: [
    [refusedRequest],
    [{ description: "missing required parameter 'response_type'" }, 'response-type'],
    [{ description: "missing required parameter 'response_mode'" }, 'response-type'],
    [{ kind: 'token' }, 'token-refused'],
    [{ error: undefined, status: 303 }, 'abandoned-sign-in'],
  ],
};

it.each(Object.entries(ROWS))('a near miss of %s gets another cause', (id, [steps, ...misses]) => {
  expect(causeAfter(steps)).toBe(id);
  expect(misses.length).toBeGreaterThan(0);
  for (const [change, other] of misses) expect(causeAfter(changed(steps, change)), JSON.stringify(change)).toBe(other);
});

it('every cause has a near miss, and its own name', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual([...CAUSES.map(({ id }) => id), 'unknown'].toSorted());
});

const approved: Noted = { kind: 'consent', outcome: 'approved' };
const used: Noted = { kind: 'use' };
const overreach: Noted = { kind: 'use', status: 403, error: 'insufficient_scope' };
it.each<[steps: readonly Noted[], minutes: number, before: string, after: string]>([
  [[metadata], 10, 'open', 'stopped'],
  [[{ kind: 'registration', status: 201 }], 10, 'open', 'stopped'],
  [[{ kind: 'authorization' }], 15, 'open', 'stopped'],
  [[{ kind: 'sign-in' }], 15, 'open', 'stopped'],
  [[approved], 15, 'open', 'stopped'],
  [[approved, { kind: 'code' }], 2, 'open', 'stopped'],
  [[token], 10, 'open', 'stopped'],
  [[token, { kind: 'refresh' }], 10, 'open', 'connected'],
  [[token, used, { kind: 'refresh' }], 10, 'connected', 'connected'],
  [[token, used], 2, 'connected', 'connected'],
  [[token, refusedToken], 2, 'open', 'stopped'],
  [[token, used, refusedToken], 2, 'connected', 'stopped'],
  [[token, refusedToken, token], 10, 'open', 'stopped'],
  [[token, used, overreach], 2, 'connected', 'connected'],
  [[token, overreach], 2, 'stopped', 'stopped'],
  [[token, { kind: 'revocation', grantId: 'g' }], 0, 'ended', 'ended'],
  [[token, { kind: 'revocation' }], 0, 'open', 'stopped'],
  [[token, { kind: 'revocation', grantId: 'g' }, { kind: 'authorization' }], 15, 'open', 'stopped'],
  [[token, { kind: 'revocation', grantId: 'g', status: 400 }], 0, 'stopped', 'stopped'],
])('%j waits %s minutes, %s until then and %s after', (noted, minutes, before, after) => {
  const attempt = { id: 'one', steps: noted.map(stepOf), left: 0 };
  const last = (noted.length - 1) * 1000;
  const stateAt = (now: number, wasUsed = false) => standstillOf(attempt, now, wasUsed).state;
  expect([stateAt(last + minutes * 60_000 - 1), stateAt(last + minutes * 60_000)]).toEqual([before, after]);
});

it('an attempt whose token was used later is connected', () => {
  const attempt = { id: 'one', steps: [stepOf(approved, 0), stepOf(token, 1)], left: 0 };
  expect(standstillOf(attempt, 86_400_000, true).state).toBe('connected');
});

function changed(steps: readonly Noted[], change: Change): readonly Noted[] {
  return isSteps(change) ? change : [...steps.slice(0, -1), { ...(steps.at(-1) as Noted), ...change }];
}

function isSteps(change: Change): change is readonly Noted[] {
  return Array.isArray(change);
}

/** The cause that is shown a day later. */
function causeAfter(noted: readonly Noted[]): string {
  const attempt = { id: 'one', steps: noted.map(stepOf), left: 0 };
  const { state, at } = standstillOf(attempt, 86_400_000);
  expect(state).toBe('stopped');
  return causeOf({ origin: ORIGIN, codeLifetime: 60, replayWindow: 30, attempt, at }).id;
}

function stepOf(step: Noted, index: number): AttemptStep {
  const since = step.since ?? index * 1000;
  const unremarkable = { endpoint: '', status: 200, userAgent: 'app/1', network: '192.0.2.0', times: 1, took: 1 };
  return { ...unremarkable, ...step, at: since, since };
}
