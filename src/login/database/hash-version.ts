import { createHash } from 'node:crypto';

/** A value that changes with the password and reveals nothing about its hash. */
export function hashVersion(hash: string): string {
  return createHash('sha256').update(`coursegate database hash ${hash}`).digest('base64url');
}
