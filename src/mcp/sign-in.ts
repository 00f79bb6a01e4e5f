import { type Challenge, insufficientScope, unauthorized } from '../oauth/challenge.ts';
import type { Scheme } from '../oauth/credentials.ts';
import type { Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import type { Scope } from '../oauth/scope.ts';
import { mayUse, type SignIn } from './visible.ts';

/** The endpoint that a request came through, and what its challenges ask for. */
export interface McpEndpoint {
  readonly resource: ProtectedResource;
  /**
   * Scopes that a first challenge asks for in addition to those needed, so that the member need not be asked again
   * later.
   */
  readonly offered: Scope;
}

/** An endpoint under its exact URL, and with a trailing slash, which some apps use. */
export interface McpEndpointSpellings {
  readonly plain: McpEndpoint;
  readonly slashed: McpEndpoint;
}

/**
 * The challenge for a caller that may not use a tool with the scopes in `needed`; undefined if the caller may use it,
 * or if tools that need a token are hidden from callers without one.
 */
export function challengeFor(
  needed: Scope,
  {
    principal,
    scheme,
    endpoint: { resource, offered },
    signIn,
  }: { principal: Principal; scheme: Scheme; endpoint: McpEndpoint; signIn: SignIn },
): Challenge | undefined {
  if (mayUse(principal, needed)) return undefined;
  if (principal.kind === 'member') {
    const description = 'the access token lacks a scope that this tool needs';
    return insufficientScope(scheme, { resource, scopes: needed }, principal.scope, description);
  }
  if (signIn === 'never') return undefined;
  const scopes = new Set([...needed, ...offered]);
  return unauthorized(scheme, { resource, scopes }, 'this tool needs an access token of a member');
}
