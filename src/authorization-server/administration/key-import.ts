import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import { type PrivateJwk, signingJwk } from '../keyring.ts';

const PROBE = Buffer.from('coursegate');

/**
 * Reads a signing key that an operator brings: a PEM private key (PKCS #8 or SEC1, without a passphrase), a private JWK, or
 * a JWKS of one. Throws GatewayError `invalid_request` with what is wrong with it, and nothing of the key.
 */
export async function readSigningKey(given: unknown): Promise<PrivateJwk> {
  const key = privateKeyOf(given);
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw wrong('The key must be an EC key on the curve P-256: what we sign is ES256 (RFC 7518 §3.4).');
  }
  const signature = sign('sha256', PROBE, key);
  const { d, ...own } = key.export({ format: 'jwk' });
  // A JWK may name another public key than its private part has: nobody could verify what it signs.
  if (!verify('sha256', PROBE, createPublicKey({ key: own as never, format: 'jwk' }), signature)) {
    throw wrong('The public part of the key is not of its private part.');
  }
  return signingJwk({ ...own, d } as Parameters<typeof signingJwk>[0]);
}

function privateKeyOf(given: unknown): KeyObject {
  try {
    if (typeof given === 'string') return createPrivateKey(given);
  } catch {
    throw wrong('The key is no PEM private key that can be read without a passphrase.');
  }
  const { keys } = Object(given) as { keys?: unknown };
  if (Array.isArray(keys) && keys.length !== 1) throw wrong('The key set must hold one key: the one to be taken.');
  const jwk = Array.isArray(keys) ? keys[0] : given;
  const { d, use, alg } = Object(jwk) as Record<string, unknown>;
  if (typeof d !== 'string') throw wrong('The key has no private part: bring a PEM private key, or a JWK with "d".');
  if (use !== undefined && use !== 'sig') throw wrong('The key is not for signing: its "use" is another.');
  if (alg !== undefined && alg !== 'ES256') throw wrong('The key is for another algorithm: what we sign is ES256.');
  try {
    return createPrivateKey({ key: jwk as never, format: 'jwk' });
  } catch {
    throw wrong('The key is no JWK that can be read (RFC 7517).');
  }
}

function wrong(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}
