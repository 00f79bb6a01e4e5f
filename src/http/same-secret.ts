import { hash, timingSafeEqual } from 'node:crypto';

/** Compares what was sent with a secret in constant time, whatever the lengths. */
export function isSameSecret(given: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'));
}
