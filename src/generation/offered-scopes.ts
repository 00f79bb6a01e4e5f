import type { Account } from '../account/endpoint.ts';
import { type Config, parseMatch, type RouteConfig } from '../config/schema.ts';
import { withoutWrites } from '../config/scope-kinds.ts';
import type { Scope } from '../oauth/scope.ts';

interface Served {
  readonly account: Pick<Account, 'readScopes'> | undefined;
  /** What the tools offer at a first sign-in; undefined when there are none. */
  readonly tools: Scope | undefined;
}

/**
 * The scopes that the metadata of a resource lists (RFC 9728 section 2, `scopes_supported`), which many apps request as
 * they are. For the origin: what its read routes, the Account API and the tools need to read. For a separate resource:
 * what its configuration lists. Tokens may have more: see `scopesOf` in resources.ts.
 */
export function offeredScopes(config: Config, { account, tools }: Served): (resource: string) => readonly string[] {
  const { origin, routes, resources, scopes } = config;
  const needed = new Set([
    ...routes.filter(isRead).flatMap((route) => route.scopes),
    ...(account?.readScopes ?? []),
    ...(tools ?? []),
  ]);
  const ofOrigin = withoutWrites(
    Object.keys(scopes).filter((scope) => needed.has(scope)),
    scopes,
  );
  return (resource) => {
    const part = resources.find(({ path }) => `${origin}${path}` === resource);
    return part === undefined ? ofOrigin : withoutWrites(part.scopes, scopes);
  };
}

function isRead({ match }: RouteConfig): boolean {
  const { methods } = parseMatch(match);
  return methods === undefined || methods.includes('GET') || methods.includes('HEAD');
}
