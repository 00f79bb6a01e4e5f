import type { Scope } from './scope.ts';

/** What is known of an access token, in the terms of RFC 7662 §2.2, parsed. Times are Unix seconds. */
export type Introspection = { readonly active: false } | ActiveToken;

export interface ActiveToken {
  readonly active: true;
  /** The member. */
  readonly sub: string;
  readonly clientId: string;
  readonly scope: Scope;
  /** RFC 8707: every resource the token is bound to. */
  readonly aud: readonly string[];
  readonly exp: number;
  /** The grant the token hangs on: one per authorization. */
  readonly grantId: string;
  /** RFC 9449 §6: thumbprint of the key that the token is bound to; undefined: whoever holds the token may use it. */
  readonly jkt: string | undefined;
  /** What the login backend said of the member when the grant was made. */
  readonly email: string | undefined;
  readonly name: string | undefined;
}

/**
 * The answer about one token, at once when it is remembered; throws, or rejects with, GatewayError('store_unavailable')
 * when it cannot be known.
 */
export type Introspect = (token: string) => Introspection | Promise<Introspection>;
