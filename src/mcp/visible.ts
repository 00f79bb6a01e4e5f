import type { Principal } from '../oauth/principal.ts';
import { covers, type Scope } from '../oauth/scope.ts';

/**
 * `on-call`: tools for members are listed to all callers, and a call is answered with a challenge. `never`: tools are
 * listed only to callers that may use them.
 */
export type SignIn = 'never' | 'on-call';

const NOTHING: Scope = new Set();

/** Whether a principal may use what needs these scopes. */
export function mayUse(principal: Principal, scopes: Scope): boolean {
  return covers(principal.kind === 'member' ? principal.scope : NOTHING, scopes);
}

/** Whether what needs these scopes is listed to a principal. */
export function isShown(principal: Principal, scopes: Scope, signIn: SignIn): boolean {
  return signIn === 'on-call' || mayUse(principal, scopes);
}
