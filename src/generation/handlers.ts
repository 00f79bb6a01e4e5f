import type { ForwardRequest } from '../approvals/held-route.ts';
import type { ApprovalsPart } from '../approvals/part.ts';
import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RouteConfig } from '../config/schema.ts';
import { createDiscovery } from '../discovery/discovery.ts';
import { DISCOVERY_PATHS } from '../discovery/paths.ts';
import { json, writeAnswer } from '../http/answer.ts';
import type { Handler } from '../http/exchange.ts';
import type { RequestAdmission } from '../limits/admission.ts';
import { MCP_PATHS } from '../mcp/paths.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import { bindRoutes, type Route } from '../request/route.ts';
import { routeRows } from '../request/routes.ts';
import { protectedResourceMetadata } from '../resource-server/metadata.ts';
import { routeRole } from '../roles/route-role.ts';
import { ownRecordHandler } from '../upstream/own-record-handler.ts';
import { createRouteLinks } from '../upstream/route-links.ts';
import type { Routed } from '../upstream/routing.ts';
import type { OpenedAuthorization } from './authorization.ts';
import type { Interfaces } from './interfaces.ts';
import type { MachinePages } from './machine-pages.ts';
import { offeredScopes, type ServedResources } from './resources.ts';
import type { UpstreamLanes } from './upstreams.ts';

interface RouteUses {
  readonly lanes: Pick<UpstreamLanes, 'forward'>;
  readonly served: ServedResources;
  readonly authorization: OpenedAuthorization;
  readonly interfaces: Interfaces;
  readonly admission: RequestAdmission;
  readonly machine: MachinePages;
  readonly rolesOf: RolesOf;
  /** Undefined when no call is held. */
  readonly approvals: ApprovalsPart | undefined;
}

/** Builds the routes of every public URL from the configuration. */
export function buildRoutes(loaded: LoadedConfig, uses: RouteUses): readonly Routed<Route>[] {
  const { config } = loaded;
  const { origin } = config;
  const { forward } = uses.lanes;
  const { resources, nameOf } = uses.served;
  const { pages, server, signInHandlers } = uses.authorization;
  const { account, mcp } = uses.interfaces;
  const { admission, machine, rolesOf } = uses;
  const linksOf = createRouteLinks(config.routes);
  const largestRequest = ({ bodyLimit = config.limits.requestBody }: RouteConfig) => bodyLimit;
  const offered = offeredScopes(config, { account, tools: mcp?.endpoints.open.plain.offered });

  const metadataHandler = (resource: string, scopes: readonly string[], name: string): Handler => {
    const { policyUri, tosUri } = config.pages;
    const documentation = origin + DISCOVERY_PATHS.authMd;
    const shared = { issuer: origin, documentation, policyUri, tosUri };
    const document = protectedResourceMetadata({ ...shared, resource, scopes, name });
    return ({ response, record }) => {
      record.noteStep('resource-metadata');
      writeAnswer(response, json(200, document, { 'cache-control': 'public, max-age=300' }));
    };
  };
  const discovery = createDiscovery({
    service: {
      config,
      endpoints: ENDPOINTS,
      offered: offered(origin),
      mcp: mcp === undefined ? undefined : { ...MCP_PATHS, tools: mcp.tools },
    },
    routes: () => routes,
    documents: loaded.upstreamDocuments,
  });
  const rows = routeRows({
    resources,
    accountPath: account === undefined ? undefined : config.account?.path,
    mcp: mcp?.endpoints,
    approvals: uses.approvals !== undefined,
    registration: server.mount.registration !== undefined,
    signIn: signInHandlers && {
      form: signInHandlers.submit !== undefined,
      callback: signInHandlers.callback !== undefined,
      handOver: signInHandlers.handOver !== undefined,
    },
    logo: pages.logo !== undefined,
    configured: config.routes,
    anonymous: config.anonymous,
  });
  const routes: readonly Routed<Route>[] = bindRoutes(rows, {
    provider: server.mount,
    interactions: server.interactions,
    connectedApps: server.connectedApps,
    approvals: server.approvals,
    signIn: signInHandlers,
    stylesheet: pages.stylesheet,
    logo: pages.logo,
    protectedResourceMetadata: ({ resource }) => metadataHandler(resource, offered(resource), nameOf(resource)),
    userinfo: server.userinfo,
    account: account && { handler: account.handler, page: machine.account },
    mcp: mcp && {
      metadata: ({ resource, offered }) => metadataHandler(resource.resource, [...offered], config.name),
      handler: mcp.handler,
      page: mcp.page(pages),
    },
    openapi: {
      handler: discovery.openapi.handler,
      page: machine.document('document.openapi.title', discovery.openapi.markup),
    },
    authMd: {
      handler: discovery.authMd.handler,
      page: machine.document('document.auth.title', discovery.authMd.markup),
    },
    fieldsFor: ({ upstream }) => config.upstreams[upstream]?.headers.request.allow,
    limitsOf: admission.limitsOf,
    roleOf: (entry) => routeRole(entry, rolesOf, largestRequest(entry)),
    forward: (entry) => {
      const limits = { request: largestRequest(entry), response: config.limits.responseBody };
      const links = linksOf(entry);
      const send: ForwardRequest = (exchange, rewrite) => forward(exchange, entry.upstream, limits, rewrite, links);
      const held = entry.approve === true ? uses.approvals?.route(entry, limits.request, send) : send;
      if (held === undefined) throw new Error('Nothing holds the requests of a route.');
      return ownRecordHandler(entry, limits.request, held);
    },
  });
  return routes;
}
