import type { ClaimsConfig } from '../../config/claims.ts';
import { JWKS_TIMEOUT, SIGNING_ALGORITHMS } from '../../config/constants.ts';
import { GatewayError } from '../../errors.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import type { Clock } from '../../storage/store.ts';
import type { Member } from '../connector.ts';
import { outboundFetch } from '../outbound-fetch.ts';
import type { SignedTokenConfig } from '../settings.ts';
import { readClaims } from '../whoami/claims.ts';
import { valueIn } from '../whoami/json-answer.ts';
import { readMember } from '../whoami/member.ts';
import { remoteKeys } from './remote-keys.ts';
import { verifySignedToken } from './verify.ts';

/**
 * Reads the member from a signed token (RFC 7519). No token, or one that does not verify, means that no one is signed in.
 *
 * @throws {GatewayError} `login_unavailable` when the keys cannot be had, or when a valid token has no usable id
 */
export function memberInToken(
  { jwks, issuer, audience, claims: names }: SignedTokenConfig,
  clock: Clock,
  claims: ClaimsConfig = {},
): (token: string | undefined) => Promise<Member | undefined> {
  const fetch = outboundFetch({ timeout: JWKS_TIMEOUT, loopback: new URL(jwks).protocol === 'http:' });
  const keys = remoteKeys(jwks, fetch, clock);
  return async (token) => {
    if (token === undefined || token === '') return undefined;
    try {
      const said = await verifySignedToken(token, { keys, issuer, audience, algorithms: SIGNING_ALGORITHMS, clock });
      const { auth_time: authTime, acr, email_verified: emailVerified } = said;
      return readMember({
        sub: said[names.subject],
        ...eachDetail((detail) => said[names[detail]]),
        emailVerified,
        authTime,
        acr,
        claims: readClaims(claims, (pointer) => valueIn(said, pointer)),
      });
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'invalid_request') return undefined;
      throw thrown;
    }
  };
}
