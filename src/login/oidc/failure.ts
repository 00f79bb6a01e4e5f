import * as oauth from 'oauth4webapi';
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
  return thrown instanceof oauth.AuthorizationResponseError && NOBODY.has(thrown.error);
}

/** The codes of oauth4webapi for a response that is well-formed but does not pass verification. */
const FORGED = new Set<string | undefined>([
  oauth.INVALID_RESPONSE,
  oauth.JSON_ATTRIBUTE_COMPARISON,
  oauth.JWT_CLAIM_COMPARISON,
  oauth.JWT_TIMESTAMP_CHECK,
  oauth.UNSUPPORTED_OPERATION,
]);

/**
 * Translates a failed exchange: `invalid_request` for a response that does not verify, `login_unavailable` for a provider
 * that is unavailable or refuses our client.
 */
export function failureOf(thrown: unknown, issuer: string): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  // The code is forged, already used, or from another provider (RFC 6749 section 5.2).
  const badCode = thrown instanceof oauth.ResponseBodyError && thrown.error === 'invalid_grant';
  const failed = thrown instanceof oauth.OperationProcessingError || thrown instanceof oauth.UnsupportedOperationError;
  if (badCode || (failed && FORGED.has(thrown.code))) return new GatewayError('invalid_request', { cause: thrown });
  return unavailable(`the sign-in at ${issuer} could not be completed`, thrown);
}
