import { createHmac } from 'node:crypto';
import type { LoadedConfig } from '../config/load.ts';
import { deriveKey } from '../storage/seal.ts';

/** Tells configurations apart by what their files hold; the same for the same wherever the secret is the same. */
export function configFingerprint(secret: string): (loaded: Pick<LoadedConfig, 'sources'>) => string {
  const key = deriveKey(secret, 'config-fingerprint');
  return ({ sources }) =>
    sources.fingerprint((digest) => createHmac('sha256', key).update(digest).digest('hex').slice(0, 16));
}
