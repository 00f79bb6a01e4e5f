import { createHash } from 'node:crypto';

/** What changes with the password, and tells nothing of its hash. */
export function hashVersion(hash: string): string {
  return createHash('sha256').update(`coursegate database hash ${hash}`).digest('base64url');
}
