import type { Principal } from '../oauth/principal.ts';
import { covers, type Scope } from '../oauth/scope.ts';

/** Whether members' tools are shown to everybody and challenged when called, or shown to whoever may call them. */
export type SignIn = 'never' | 'on-call';

const NOTHING: Scope = new Set();

/** What a principal's token covers. */
export function grantedTo(principal: Principal): Scope {
  return principal.kind === 'member' ? principal.scope : NOTHING;
}

/** Whether a principal may use what needs these scopes. */
export function mayUse(principal: Principal, scopes: Scope): boolean {
  return covers(grantedTo(principal), scopes);
}

/** Whether a principal is shown what needs these scopes. */
export function isShown(principal: Principal, scopes: Scope, signIn: SignIn): boolean {
  return signIn === 'on-call' || mayUse(principal, scopes);
}
