import type { Scope } from './scope.ts';

/**
 * Who a request acts for, once admitted. It never carries the token: no tool, resolver or log line can leak what it
 * never had.
 */
export type Principal = MemberPrincipal | AnonymousPrincipal;

export interface MemberPrincipal {
  readonly kind: 'member';
  readonly sub: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly scope: Scope;
  readonly clientId: string;
  readonly grantId: string;
}

export interface AnonymousPrincipal {
  readonly kind: 'anonymous';
}

export const ANONYMOUS: AnonymousPrincipal = { kind: 'anonymous' };
