import type { Config } from '../config/schema.ts';
import { MCP_PATHS } from '../mcp/paths.ts';
import { protectedResource } from '../oauth/protected-resource.ts';
import { routesTable } from './routes.ts';

/**
 * The path patterns of everything that the gate answers itself or protects under a configuration: those of the table that
 * a running gate routes by. What it does there is left out, so nothing is opened or asked.
 */
export function publicPaths(config: Config): readonly string[] {
  const { origin } = config;
  const handler = () => undefined;
  const door = (path: string) => {
    const one = { resource: protectedResource(origin, path), offered: new Set<string>() };
    return { plain: one, slashed: one };
  };
  const resources = [
    protectedResource(origin, ''),
    ...config.resources.map(({ path }) => protectedResource(origin, path)),
  ] as const;
  const table = routesTable({
    doors: {
      provider: { plain: handler, authorization: handler, resume: handler, form: handler, registration: undefined },
      interactions: { start: handler, returned: handler, switchAccount: handler, decide: handler },
      connectedApps: undefined,
      signIn: { page: handler, submit: handler, callback: handler },
      stylesheet: handler,
      logo: handler,
      protectedResourceMetadata: () => handler,
      userinfo: handler,
      account: config.account === undefined ? undefined : { path: config.account.path, handler },
      mcp:
        config.mcp === undefined
          ? undefined
          : {
              open: door(MCP_PATHS.open),
              member: door(MCP_PATHS.member),
              limits: undefined,
              metadata: () => handler,
              handler: () => handler,
            },
      openapi: handler,
      authMd: handler,
      forward: () => handler,
      fieldsFor: () => undefined,
      limitsOf: () => undefined,
    },
    resources,
    configured: config.routes,
    anonymous: config.anonymous,
  });
  return [...new Set(table.map(({ pattern }) => pattern))];
}
