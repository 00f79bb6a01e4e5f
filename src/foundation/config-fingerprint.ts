import { createHmac } from 'node:crypto';
import type { LoadedConfig } from '../config/load.ts';
import { deriveKey } from '../storage/seal.ts';

/**
 * A keyed fingerprint of a configuration's files. Equal files give an equal fingerprint wherever the secret is the
 * same.
 */
export function configFingerprint(secret: string): (loaded: Pick<LoadedConfig, 'sources'>) => string {
  const key = deriveKey(secret, 'config-fingerprint');
  return ({ sources }) =>
    sources.fingerprint((digest) => createHmac('sha256', key).update(digest).digest('hex').slice(0, 16));
}
