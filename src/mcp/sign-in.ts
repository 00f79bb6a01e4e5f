import type { Challenge } from '../oauth/challenge.ts';
import type { Scheme } from '../oauth/credentials.ts';
import type { Principal } from '../oauth/principal.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import type { Scope } from '../oauth/scope.ts';
import { grantedTo, mayUse, type SignIn } from './visible.ts';

/** The endpoint that a request came through, and what its challenges ask for. */
export interface McpEndpoint {
  readonly resource: ProtectedResource;
  /** What a first challenge offers besides what is needed: an app that has it need not ask the member again. */
  readonly offered: Scope;
}

/** A endpoint by its address as it is, and with a final slash, as some apps are given it. */
export interface McpEndpointSpellings {
  readonly plain: McpEndpoint;
  readonly slashed: McpEndpoint;
}

/**
 * What a caller is told who may not use a tool: nothing where tools are hidden from whoever has no token, since to them
 * it is not there. In: the scopes of the tool. Out: the challenge, or undefined when there is none to be made.
 */
export function challengeFor(
  needed: Scope,
  {
    principal,
    scheme,
    endpoint,
    signIn,
  }: { principal: Principal; scheme: Scheme; endpoint: McpEndpoint; signIn: SignIn },
): Challenge | undefined {
  if (mayUse(principal, needed)) return undefined;
  const resourceMetadata = endpoint.resource.metadataUrl;
  if (principal.kind === 'member') {
    const scope = new Set([...grantedTo(principal), ...needed]);
    const description = 'the access token lacks a scope that this tool needs';
    return { scheme, status: 403, error: 'insufficient_scope', description, resourceMetadata, scope };
  }
  if (signIn === 'never') return undefined;
  const scope = new Set([...needed, ...endpoint.offered]);
  const description = 'this tool needs an access token of a member';
  return { scheme, status: 401, error: 'invalid_token', description, resourceMetadata, scope };
}
