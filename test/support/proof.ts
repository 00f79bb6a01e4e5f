import { createHash } from 'node:crypto';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { App } from './app.ts';

/** A client's DPoP key, to make proofs by hand that a library would not send. */
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

/**
 * Signs a proof. `claims` override the current `iat` and a fresh `jti`; `header` overrides the usual header members.
 */
export function signProof(
  key: ProofKey,
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT({ jti: crypto.randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
    .setProtectedHeader({ alg: key.alg, typ: 'dpop+jwt', jwk: key.publicJwk, ...header })
    .sign(key.privateKey);
}

/** A proof of a new key for the token endpoint, which makes a repeated token request another one. */
export async function otherKey({ server }: App): Promise<{ dpop: string }> {
  return { dpop: await signProof(await proofKey(), { htm: 'POST', htu: String(server.token_endpoint) }) };
}

/** The hash of a token, for the `ath` claim of a proof (RFC 9449 section 4.2). */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** The Authorization and DPoP header fields of one request. */
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
