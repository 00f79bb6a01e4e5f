import { createHash } from 'node:crypto';

/**
 * The gate's pseudonym in Via (RFC 9110 section 7.6.3). It is derived from the origin: replicas have the same, and
 * another gate behind this one has its own. Not the host itself, which a web server in front may add under its own name.
 */
export function pseudonymOf(origin: string): string {
  return `coursegate-${createHash('sha256').update(origin).digest('hex').slice(0, 16)}`;
}
