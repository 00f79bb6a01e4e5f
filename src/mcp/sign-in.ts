import { type Challenge, challengeIn, insufficientScope, unauthorized } from '../oauth/challenge.ts';
import type { Scheme } from '../oauth/credentials.ts';
import type { Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import { covers, type Scope } from '../oauth/scope.ts';

/**
 * Whether callers without a token are listed the tools that need one: `on-call`, and a call is answered with a
 * challenge; `never`, and to them these tools do not exist. Members are always listed all tools.
 */
export type SignInPolicy = 'never' | 'on-call';

const NOTHING: Scope = new Set();

/** Whether a principal may use what needs these scopes. */
function mayUse(principal: Principal, scopes: Scope): boolean {
  return covers(principal.kind === 'member' ? principal.scope : NOTHING, scopes);
}

/**
 * Whether what needs these scopes is listed to a principal. A member is shown what the token does not cover, because an
 * assistant calls only what is listed, and only a call can be challenged.
 */
export function isShown(principal: Principal, scopes: Scope, signIn: SignInPolicy): boolean {
  return principal.kind === 'member' || signIn === 'on-call' || mayUse(principal, scopes);
}

/** The endpoint that a request came through, and what its challenges ask for. */
export interface McpEndpoint {
  readonly resource: ProtectedResource;
  /** What a first challenge and the metadata ask for: the scopes of all tools. */
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
    version,
  }: {
    principal: Principal;
    scheme: Scheme;
    endpoint: McpEndpoint;
    signIn: SignInPolicy;
    /** The `Mcp-Protocol-Version` of the request. */
    version: unknown;
  },
): Challenge | undefined {
  if (mayUse(principal, needed)) return undefined;
  if (principal.kind === 'member') {
    const description = 'the access token lacks a scope that this tool needs';
    return challengeIn(version, insufficientScope(scheme, { resource, scopes: needed }, principal.scope, description));
  }
  if (signIn === 'never') return undefined;
  const scopes = new Set([...needed, ...offered]);
  return unauthorized(scheme, { resource, scopes }, 'this tool needs an access token of a member');
}
