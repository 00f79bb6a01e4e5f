import { holdsCalls } from '../approvals/kind.ts';
import type { Config } from '../config/schema.ts';
import { loginCookies } from '../login/kinds.ts';
import { MCP_PATHS } from '../mcp/paths.ts';
import { protectedResource } from '../oauth/protected-resource.ts';
import { routeRows } from './routes.ts';

/**
 * The path patterns of everything that the gate answers itself or protects under a configuration, from the same table
 * that a running gate routes by.
 */
export function publicPaths(config: Config): readonly string[] {
  return [...new Set(rowsOf(config).map(({ pattern }) => pattern))];
}

/** The paths of everything that is the same for everyone until the configuration changes, and can be served as files. */
export function documentPaths(config: Config): readonly string[] {
  return rowsOf(config).flatMap(({ pattern, value, slashed }) => [
    ...(value.constant === true ? [pattern] : []),
    ...(slashed?.constant === true ? [`${pattern}/`] : []),
  ]);
}

function rowsOf(config: Config) {
  const { origin } = config;
  const endpoint = (path: string) => {
    const one = { resource: protectedResource(origin, path), offered: new Set<string>() };
    return { plain: one, slashed: one };
  };
  return routeRows({
    resources: [protectedResource(origin, ''), ...config.resources.map(({ path }) => protectedResource(origin, path))],
    accountPath: config.account?.path,
    mcp: config.mcp === undefined ? undefined : { open: endpoint(MCP_PATHS.open), member: endpoint(MCP_PATHS.member) },
    approvals: holdsCalls(config),
    registration: false,
    signIn: {
      form: true,
      callback: true,
      handOver: config.pages.origin !== undefined && loginCookies(config.login).length > 0,
    },
    logo: true,
    configured: config.routes,
    anonymous: config.anonymous,
  });
}
