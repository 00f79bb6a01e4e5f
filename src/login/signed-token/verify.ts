import { decodeProtectedHeader, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { GatewayError } from '../../errors.ts';
import type { Clock } from '../../storage/store.ts';

/** Seconds by which the clocks of two good servers may differ. */
const TOLERANCE = 30;

/** Members of a header that say where the key is, or bring it: a token that vouches for itself (RFC 8725 §3.10). */
const SELF_VOUCHING = ['jwk', 'jku', 'x5c', 'x5u'];

export interface VerifyOptions {
  readonly keys: JWTVerifyGetKey;
  /** Byte for byte. */
  readonly issuer: string;
  readonly audience: string;
  /** Asymmetric ones alone: a secret that both ends know proves nothing, and a public key is none. */
  readonly algorithms: readonly string[];
  readonly clock: Clock;
}

/**
 * What a signed token says (RFC 7519), when it holds: signature, algorithm, issuer, audience, and its times by our clock.
 * Throws GatewayError `invalid_request` when it does not, `login_unavailable` when the keys cannot be had.
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
