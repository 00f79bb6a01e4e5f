import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

export type { CryptoKey, JWK };

/** ID tokens are signed with either. RS256 is the default of OpenID Connect; the identity assertion is always ES256. */
export const ALGORITHMS = ['ES256', 'RS256'] as const;

export type Algorithm = (typeof ALGORITHMS)[number];

export type PrivateJwk = JWK & { readonly kid: string; readonly alg: Algorithm };

/**
 * 2048 bits are the least that RS256 allows (RFC 7518 section 3.3) and what every verifier accepts. With 3072 a signature
 * costs five times as much, and no key signs longer than `keys.rotate`.
 */
const RSA_BITS = 2048;

const MEMBERS: Readonly<Record<Algorithm, { readonly open: readonly string[]; readonly secret: readonly string[] }>> = {
  ES256: { open: ['kty', 'crv', 'x', 'y'], secret: ['d'] },
  RS256: { open: ['kty', 'n', 'e'], secret: ['d', 'p', 'q', 'dp', 'dq', 'qi'] },
};

/** RSA operations run on a libuv thread, not on the event loop. */
export async function createKey(alg: Algorithm): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: RSA_BITS });
  return signingJwk(alg, await exportJWK(privateKey));
}

/** Prepares a private JWK for the keyring, named by its thumbprint (RFC 7638). */
export async function signingJwk(alg: Algorithm, given: JWK): Promise<PrivateJwk> {
  const { open, secret } = MEMBERS[alg];
  const jwk = picked(given, [...open, ...secret]);
  return { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

/** The JWK without its private members. */
export function publicJwk(key: PrivateJwk): JWK {
  return picked(key, [...MEMBERS[key.alg].open, 'alg', 'use', 'kid']);
}

export async function importKey(key: PrivateJwk): Promise<CryptoKey> {
  return (await importJWK(key, key.alg)) as CryptoKey;
}

function picked(jwk: Readonly<JWK>, names: readonly string[]): JWK {
  return Object.fromEntries(names.map((name) => [name, jwk[name as keyof JWK]])) as JWK;
}
