import type { MemberPrincipal } from './principal.ts';

/** A parsed introspection response (RFC 7662 section 2.2). Times are Unix seconds. */
export type Introspection = { readonly active: false } | ActiveToken;

export interface ActiveToken extends Omit<MemberPrincipal, 'kind'> {
  readonly active: true;
  /** Every resource that the token was issued for (RFC 8707). */
  readonly aud: readonly string[];
  readonly exp: number;
  /** Thumbprint of the key that the token is bound to (RFC 9449 section 6); undefined for a bearer token. */
  readonly jkt: string | undefined;
}

/**
 * Looks up one token, synchronously when it is cached. Throws, or rejects with, GatewayError('store_unavailable') when
 * the store cannot answer.
 */
export type Introspect = (token: string) => Introspection | Promise<Introspection>;
