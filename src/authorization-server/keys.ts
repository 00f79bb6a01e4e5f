import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Store } from '../storage/store.ts';

const KIND = 'SigningKey';
const CURRENT = 'current';

export interface SigningKeys {
  /** Private JWKs, the signing one first: for oidc-provider. */
  readonly privateKeys: readonly JWK[];
  /** The key that signs now: for the identity assertion. */
  readonly signing: { readonly kid: string; readonly key: CryptoKey };
}

/**
 * Loads the ES256 signing key from the store, or makes one at first start. Two replicas that start at once agree on
 * one: `create` succeeds for the first only. Throws GatewayError `store_unavailable`.
 */
export async function loadSigningKeys(store: Store): Promise<SigningKeys> {
  const stored = (await store.get(KIND, CURRENT)) ?? (await create(store));
  const jwk = JSON.parse(stored.payload) as JWK & { kid: string };
  return { privateKeys: [jwk], signing: { kid: jwk.kid, key: (await importJWK(jwk, 'ES256')) as CryptoKey } };
}

async function create(store: Store): Promise<{ payload: string }> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  const payload = JSON.stringify({ ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) });
  const entry = { kind: KIND, id: CURRENT, payload, expiresAt: undefined, references: {} };
  if (await store.commit([{ op: 'create', entry }])) return { payload };
  const theirs = await store.get(KIND, CURRENT);
  if (theirs === undefined) throw new Error('the signing key was neither found nor made');
  return theirs;
}
