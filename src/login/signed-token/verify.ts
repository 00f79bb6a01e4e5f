import { decodeProtectedHeader, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { GatewayError } from '../../errors.ts';
import type { Clock } from '../../storage/store.ts';

/** Allowed clock skew in seconds. */
const TOLERANCE = 30;

/** Header parameters that contain or locate the key, with which a token would vouch for itself (RFC 8725 section 3.10). */
const SELF_VOUCHING = ['jwk', 'jku', 'x5c', 'x5u'];

export interface VerifyOptions {
  readonly keys: JWTVerifyGetKey;
  /** Compared byte for byte. */
  readonly issuer: string;
  readonly audience: string;
  /** Asymmetric algorithms only. With HMAC, a public key could be misused as the secret. */
  readonly algorithms: readonly string[];
  readonly clock: Clock;
}

/**
 * The claims of a signed token (RFC 7519) after verifying its signature, algorithm, issuer, audience, and its times
 * against our clock.
 *
 * @throws {GatewayError} `invalid_request` when it does not verify, `login_unavailable` when the keys are unavailable
 */
export async function verifySignedToken(token: string, options: VerifyOptions): Promise<JWTPayload> {
  const { keys, issuer, audience, algorithms, clock } = options;
  try {
    const header = decodeProtectedHeader(token);
    const selfVouching = SELF_VOUCHING.find((name) => Object.hasOwn(header, name));
    if (selfVouching !== undefined) throw new Error(`The header of the token has ${selfVouching}.`);
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: [...algorithms],
      requiredClaims: ['exp', 'iat'],
      clockTolerance: TOLERANCE,
      currentDate: new Date(clock()),
    });
    if ((payload.iat ?? 0) > clock() / 1000 + TOLERANCE) throw new Error('The token was issued in the future.');
    return payload;
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError('invalid_request', { cause: thrown });
  }
}
