import { randomBytes } from 'node:crypto';

/**
 * An id that operators type, for apps and grants: 32 hex digits. oidc-provider's own ids may begin with `-`, which every
 * command line takes for an option.
 */
export function recordId(): string {
  return randomBytes(16).toString('hex');
}
