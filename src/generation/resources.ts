import type { Account } from '../account/endpoint.ts';
import { type Config, parseMatch, type RouteConfig } from '../config/schema.ts';
import { MCP_PATHS } from '../mcp/paths.ts';
import { type ProtectedResource, protectedResource } from '../oauth/protected-resource.ts';
import { type ResourceIndicators, resourceIndicators } from '../oauth/resource-indicator.ts';
import type { Scope } from '../oauth/scope.ts';

/** The resources that tokens can be issued for: the origin, and parts of it that are separate resources. */
export interface ServedResources {
  readonly resources: readonly [ProtectedResource, ...ProtectedResource[]];
  readonly indicators: ResourceIndicators;
  /** The scopes that a token for a resource may have. */
  scopesOf(resource: string): readonly string[];
  nameOf(resource: string): string;
}

export function servedResources({ origin, name, resources, scopes, account, mcp }: Config): ServedResources {
  const parts = resources.map(({ path }) => path);
  const partAt = (resource: string) => resources.find(({ path }) => `${origin}${path}` === resource);
  const everyScope = Object.keys(scopes);
  return {
    resources: [protectedResource(origin, ''), ...parts.map((path) => protectedResource(origin, path))],
    indicators: resourceIndicators(origin, {
      endpoints: [
        ...(account === undefined ? [] : [account.path]),
        ...(mcp === undefined ? [] : Object.values(MCP_PATHS)),
      ],
      parts,
    }),
    scopesOf: (resource) => partAt(resource)?.scopes ?? everyScope,
    nameOf: (resource) => partAt(resource)?.name ?? name,
  };
}

interface Served {
  readonly account: Pick<Account, 'readScopes'> | undefined;
  /** What the tools offer at a first sign-in; undefined when there are none. */
  readonly tools: Scope | undefined;
}

/**
 * The scopes that the metadata of a resource lists (RFC 9728 section 2, `scopes_supported`), which many apps request as
 * they are. For the origin: what its read routes, the Account API and the tools need to read. For a separate resource:
 * what its configuration lists. Tokens may have more: see `scopesOf`.
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

/**
 * The scopes without those that allow changes (`kind: write`), for lists that apps copy into their first request: the
 * challenge of a refused write names its scope (403 `insufficient_scope`). If all of them allow changes, nothing works
 * without them, and all are returned.
 */
function withoutWrites(scopes: Iterable<string>, catalogue: Config['scopes']): readonly string[] {
  const all = [...new Set(scopes)];
  const others = all.filter((scope) => catalogue[scope]?.kind !== 'write');
  return others.length > 0 ? others : all;
}
