import type { MemberDetails } from './member-details.ts';
import type { Scope } from './scope.ts';

/**
 * Who an admitted request acts for. It never contains the token, so that no tool, resolver or log line can leak it.
 */
export type Principal = MemberPrincipal | AnonymousPrincipal;

export interface MemberPrincipal {
  readonly kind: 'member';
  /** The member's id. */
  readonly sub: string;
  /** As reported by the login backend when the grant was created. */
  readonly details: MemberDetails;
  readonly scope: Scope;
  readonly clientId: string;
  /** The grant that the token belongs to: one per authorization. */
  readonly grantId: string;
}

export interface AnonymousPrincipal {
  readonly kind: 'anonymous';
}

export const ANONYMOUS: AnonymousPrincipal = { kind: 'anonymous' };
