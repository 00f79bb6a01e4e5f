import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { type PrivateJwk, signingJwk } from '../keyring.ts';

const PROBE = Buffer.from('coursegate');

/**
 * Reads a signing key from the operator: a PEM private key (PKCS #8 or SEC1, without a passphrase), a private JWK, or a
 * JWKS with one key. Throws GatewayError `invalid_request` with a reason that contains nothing of the key.
 */
export async function readSigningKey(given: unknown): Promise<PrivateJwk> {
  const key = privateKeyOf(given);
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw wrong('The key must be an EC key on the curve P-256, for ES256 (RFC 7518 section 3.4).');
  }
  const signature = sign('sha256', PROBE, key);
  const { d, ...own } = key.export({ format: 'jwk' });
  // In a JWK, public and private part may not belong together. Its signatures could not be verified.
  if (!verify('sha256', PROBE, createPublicKey({ key: own as never, format: 'jwk' }), signature)) {
    throw wrong('The public and private parts of the key do not belong together.');
  }
  return signingJwk({ ...own, d } as Parameters<typeof signingJwk>[0]);
}

function privateKeyOf(given: unknown): KeyObject {
  try {
    if (typeof given === 'string') return createPrivateKey(given);
  } catch {
    throw wrong('The key is not a PEM private key without a passphrase.');
  }
  const { keys } = Object(given) as { keys?: unknown };
  if (Array.isArray(keys) && keys.length !== 1) throw wrong('The key set must contain exactly one key.');
  const jwk = Array.isArray(keys) ? keys[0] : given;
  const { d, use, alg } = Object(jwk) as Record<string, unknown>;
  if (typeof d !== 'string') throw wrong('The key has no private part: use a PEM private key, or a JWK with "d".');
  if (use !== undefined && use !== 'sig') throw wrong('The key is not for signing: its "use" is not "sig".');
  if (alg !== undefined && alg !== 'ES256') throw wrong('The key is for another algorithm than ES256.');
  try {
    return createPrivateKey({ key: jwk as never, format: 'jwk' });
  } catch {
    throw wrong('The key is not a valid JWK (RFC 7517).');
  }
}

function wrong(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}
