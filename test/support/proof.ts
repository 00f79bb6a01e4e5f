import { createHash } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** A client's DPoP key, and proofs made with it by hand: for what a library would not send. */
export interface ProofKey {
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly privateJwk: JWK;
  readonly jkt: string;
}

export async function proofKey(alg = 'ES256'): Promise<ProofKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    alg,
    privateKey,
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    jkt: await calculateJwkThumbprint(publicJwk),
  };
}

/** In: claims over the usual `iat` and a fresh `jti`, and header members over the usual ones. */
export function signProof(
  key: ProofKey,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT({ jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
    .setProtectedHeader({ alg: key.alg, typ: 'dpop+jwt', jwk: key.publicJwk, ...header })
    .sign(key.privateKey);
}

/** A token as the `ath` of a proof. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** The Authorization and DPoP fields of one request. */
export async function proven(
  key: ProofKey,
  token: string,
  method: string,
  url: string,
  claims: Record<string, unknown> = {},
): Promise<Record<string, string>> {
  const proof = await signProof(key, { htm: method, htu: url, ath: hashOf(token), ...claims });
  return { authorization: `DPoP ${token}`, dpop: proof };
}
