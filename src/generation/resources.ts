import type { Config } from '../config/schema.ts';
import { MCP_PATHS } from '../mcp/paths.ts';
import { type ProtectedResource, protectedResource } from '../oauth/protected-resource.ts';
import { type ResourceIndicators, resourceIndicators } from '../oauth/resource-indicator.ts';

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
