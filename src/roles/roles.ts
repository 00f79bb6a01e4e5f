import { GatewayError } from '../errors.ts';
import type { RolesOf } from '../oauth/member-roles.ts';

/** What the members are. */
export interface Roles {
  readonly of: RolesOf;
  /** Asks again at the next need. An answer that is on its way is used only by those who wait for it already. */
  forget(sub: string): void;
}

/** Without `roles` in the configuration. Nothing may then need a role. */
export const NO_ROLES: Roles = {
  of() {
    throw rolesUnavailable();
  },
  forget() {},
};

/** The error for a backend that could not say what a member is, which must never be taken for "nothing". */
export function rolesUnavailable(cause?: unknown): GatewayError {
  return new GatewayError('login_unavailable', { message: 'The roles of members cannot be read right now.', cause });
}
