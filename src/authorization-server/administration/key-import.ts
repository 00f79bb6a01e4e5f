import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { invalidRequest } from '../../errors.ts';
import { type Algorithm, type PrivateJwk, signingJwk } from '../signing-key.ts';

/** RS256 requires 2048 bits (RFC 7518 section 3.3). Beyond 4096, signing takes too long. */
const RSA_BITS = { least: 2048, most: 4096 };

const PROBE = Buffer.from('coursegate');

/**
 * Reads a signing key from the operator: a PEM private key (PKCS #8 or SEC1, without a passphrase), a private JWK, or a
 * JWKS with one key. Throws GatewayError `invalid_request` with a reason that contains nothing of the key.
 */
export async function readSigningKey(given: unknown): Promise<PrivateJwk> {
  const { key, declared } = privateKeyOf(given);
  const alg = algorithmOf(key);
  if (alg === undefined)
    throw invalidRequest(
      'The key must be an EC key on the curve P-256, for ES256, or an RSA key of 2048 to 4096 bits, for RS256.',
    );
  if (declared !== undefined && declared !== alg) throw invalidRequest(`The key is for another algorithm than ${alg}.`);
  const signature = sign('sha256', PROBE, key);
  const own = key.export({ format: 'jwk' });
  const { kty, crv, x, y, n, e } = own;
  // In a JWK, public and private part may not belong together. Its signatures could not be verified.
  const open = createPublicKey({ key: { kty, crv, x, y, n, e } as never, format: 'jwk' });
  if (!verify('sha256', PROBE, open, signature))
    throw invalidRequest('The public and private parts of the key do not belong together.');
  return signingJwk(alg, own as Parameters<typeof signingJwk>[1]);
}

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): Algorithm | undefined {
  if (type === 'ec' && details?.namedCurve === 'prime256v1') return 'ES256';
  const bits = details?.modulusLength ?? 0;
  return type === 'rsa' && bits >= RSA_BITS.least && bits <= RSA_BITS.most ? 'RS256' : undefined;
}

/** @returns the key, and the algorithm that its JWK names */
function privateKeyOf(given: unknown): { readonly key: KeyObject; readonly declared?: unknown } {
  try {
    if (typeof given === 'string') return { key: createPrivateKey(given) };
  } catch {
    throw invalidRequest('The key is not a PEM private key without a passphrase.');
  }
  const { keys } = Object(given) as { keys?: unknown };
  if (Array.isArray(keys) && keys.length !== 1) throw invalidRequest('The key set must contain exactly one key.');
  const jwk = Array.isArray(keys) ? keys[0] : given;
  const { d, use, alg } = Object(jwk) as Record<string, unknown>;
  if (typeof d !== 'string')
    throw invalidRequest('The key has no private part: use a PEM private key, or a JWK with "d".');
  if (use !== undefined && use !== 'sig') throw invalidRequest('The key is not for signing: its "use" is not "sig".');
  try {
    return { key: createPrivateKey({ key: jwk as never, format: 'jwk' }), declared: alg };
  } catch {
    throw invalidRequest('The key is not a valid JWK (RFC 7517).');
  }
}
