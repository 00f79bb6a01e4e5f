import * as client from 'openid-client';
import { GatewayError } from '../../errors.ts';
import { unavailable } from '../outbound-fetch.ts';

/** What a provider says when the member turned back, or was not asked (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
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

/** Of openid-client: what came is understood, and is not what it should be. */
const FORGED = new Set([
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

/**
 * What a failed exchange is to us: `invalid_request` for a proof that does not hold, `login_unavailable` for a provider
 * that is ill or refuses our client.
 */
export function failureOf(thrown: unknown, issuer: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const inner = thrown instanceof Error && thrown.cause instanceof GatewayError ? thrown.cause : undefined;
  if (inner !== undefined) return inner;
  // The code was made up, used before, or of another provider (RFC 6749 §5.2).
  const badCode = thrown instanceof client.ResponseBodyError && thrown.error === 'invalid_grant';
  if (badCode || (thrown instanceof client.ClientError && FORGED.has(thrown.code ?? ''))) {
    return new GatewayError('invalid_request', { cause: thrown });
  }
  return unavailable(`${issuer} did not let us finish the sign-in`, thrown);
}
