import * as client from 'openid-client';
import { GatewayError } from '../../errors.ts';
import { unavailable } from '../outbound-fetch.ts';

/** Errors for a member who cancelled or was not asked (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). */
const NOBODY = new Set([
  'access_denied',
  'account_selection_required',
  'consent_required',
  'interaction_required',
  'login_required',
]);

/** Whether the member came back without having signed in. */
export function isNobody(thrown: unknown): boolean {
  return thrown instanceof client.AuthorizationResponseError && NOBODY.has(thrown.error);
}

/** Error codes of openid-client for a response that is well-formed but does not pass verification. */
const FORGED = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

/**
 * Translates a failed exchange: `invalid_request` for a response that does not verify, `login_unavailable` for a provider
 * that is unavailable or refuses our client.
 */
export function failureOf(thrown: unknown, issuer: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const inner = thrown instanceof Error && thrown.cause instanceof GatewayError ? thrown.cause : undefined;
  if (inner !== undefined) return inner;
  // The code is forged, already used, or from another provider (RFC 6749 section 5.2).
  const badCode = thrown instanceof client.ResponseBodyError && thrown.error === 'invalid_grant';
  if (badCode || (thrown instanceof client.ClientError && FORGED.has(thrown.code ?? ''))) {
    return new GatewayError('invalid_request', { cause: thrown });
  }
  return unavailable(`the sign-in at ${issuer} could not be completed`, thrown);
}
