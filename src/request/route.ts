import type { ApprovalPages } from '../authorization-server/approvals/approval-pages.ts';
import type { ConnectedApps } from '../authorization-server/connected-apps/connected-apps.ts';
import type { Interactions } from '../authorization-server/interactions/interactions.ts';
import type { Mount } from '../authorization-server/mount.ts';
import type { SignInHandlers } from '../authorization-server/sign-in/sign-in-handlers.ts';
import type { RouteConfig } from '../config/schema.ts';
import type { Voice } from '../errors.ts';
import type { Handler } from '../http/exchange.ts';
import type { RouteLimits } from '../limits/admission.ts';
import type { McpEndpoint, McpEndpointSpellings } from '../mcp/sign-in.ts';
import type { ProtectedResource } from '../oauth/protected-resource.ts';
import type { Protection } from '../resource-server/gate.ts';
import type { RouteRole } from '../roles/route-role.ts';
import type { Routed } from '../upstream/routing.ts';

/** A route, apart from its methods and its path. Every route has to state its protection. */
export interface Route {
  readonly protection: 'public' | Protection;
  /** The format of its error responses. */
  readonly voice: Voice;
  /** Whether pages of other origins may call it. Never true where a cookie has any effect. */
  readonly cors: boolean;
  /** Whether it is a step that only a browser's navigation may take, and no script (member-pages.ts). */
  readonly visits?: true;
  /** With `pages.origin`: whether it is at that host, or at both. Undefined: only at `origin`. */
  readonly host?: 'pages' | 'both' | undefined;
  /** Header fields that such pages may send here, in addition to those that they may send everywhere. */
  readonly pageFields?: readonly string[] | undefined;
  /** Undefined: the limits for all routes apply. */
  readonly limits?: RouteLimits | undefined;
  /** The role that a member needs here, if it needs one. */
  readonly role?: RouteRole | undefined;
  /** Whether the answer is the same for everyone until the configuration changes, so that a copy of it will do. */
  readonly constant?: true;
  /** Whether codes, tokens or secrets could be guessed here: failures are then counted. */
  readonly attempts?: true;
  /** Whether the handler sends the exchange's own fields itself, together with those of the response it relays. */
  readonly relays?: true;
  /** Which of the member's data it reads or changes, if that is known before it runs. Otherwise the handler reports it. */
  readonly areas?: readonly string[];
  /** The operator's configuration, if it is a configured route. The OpenAPI document is generated from it. */
  readonly entry?: RouteConfig;
  readonly handler: Handler;
  /** What a browser gets that opens the address of an endpoint. Programs get its answer, or 405 if it has no GET. */
  readonly page?: Handler | undefined;
}

/** The handlers, built from the configuration. Rows of the route table pick theirs from these. */
export interface Handlers {
  readonly provider: Mount;
  readonly interactions: Interactions;
  readonly connectedApps: ConnectedApps;
  readonly approvals: ApprovalPages | undefined;
  /** Undefined when members sign in on the backend's own pages only. */
  readonly signIn: SignInHandlers | undefined;
  readonly stylesheet: Handler;
  readonly logo: Handler | undefined;
  readonly protectedResourceMetadata: (resource: ProtectedResource) => Handler;
  readonly userinfo: Handler;
  readonly account: { readonly handler: Handler; readonly page: Handler } | undefined;
  readonly mcp:
    | {
        readonly metadata: (endpoint: McpEndpoint) => Handler;
        readonly handler: (endpoint: McpEndpoint) => Handler;
        readonly page: Handler;
      }
    | undefined;
  readonly openapi: { readonly handler: Handler; readonly page: Handler };
  readonly authMd: { readonly handler: Handler; readonly page: Handler };
  /** Forwards to the upstream of one of the operator's routes. */
  readonly forward: (entry: RouteConfig) => Handler;
  /** Header fields that apps may send to a route because the operator allows it. */
  readonly fieldsFor: (entry: RouteConfig) => readonly string[] | undefined;
  readonly limitsOf: (entry: RouteConfig) => RouteLimits | undefined;
  readonly roleOf: (entry: RouteConfig) => RouteRole | undefined;
}

/** What is served under a configuration. */
export interface Served {
  /** The origin first, then the parts of it that are separate resources. */
  readonly resources: readonly [ProtectedResource, ...ProtectedResource[]];
  readonly accountPath: string | undefined;
  readonly mcp: { readonly open: McpEndpointSpellings; readonly member: McpEndpointSpellings } | undefined;
  /** Whether there are calls that members approve one by one. */
  readonly approvals: boolean;
  readonly registration: boolean;
  readonly signIn: { readonly form: boolean; readonly callback: boolean; readonly handOver: boolean } | undefined;
  readonly logo: boolean;
  /** The operator's routes: the first match wins. */
  readonly configured: readonly RouteConfig[];
  /** What configured routes without their own setting do with requests that have no token. */
  readonly anonymous: Protection['anonymous'];
}

type From<T> = (handlers: Handlers) => T;

/** A route as data. Its handler is picked when the table is bound, so the table can be used without handlers. */
export interface RouteRow extends Omit<Route, 'handler' | 'page' | 'limits' | 'role' | 'pageFields'> {
  readonly handler: From<Handler | undefined>;
  readonly page?: From<Handler | undefined>;
  readonly limits?: From<RouteLimits | undefined>;
  readonly role?: From<RouteRole | undefined>;
  readonly pageFields?: From<readonly string[] | undefined>;
}

/** Gives every row its handler. Throws if the handler of a served row was not built, which would be a bug. */
export function bindRoutes(rows: readonly Routed<RouteRow>[], handlers: Handlers): readonly Routed<Route>[] {
  const bind = (row: RouteRow, pattern: string): Route => {
    const handler = row.handler(handlers);
    if (handler === undefined) throw new Error(`No handler was built for ${pattern}.`);
    const { page, limits, role, pageFields, ...rest } = row;
    const own = {
      page: page?.(handlers),
      limits: limits?.(handlers),
      role: role?.(handlers),
      pageFields: pageFields?.(handlers),
    };
    return { ...rest, ...own, handler };
  };
  return rows.map(({ value, slashed, ...routed }) => ({
    ...routed,
    value: bind(value, routed.pattern),
    ...(slashed === undefined ? {} : { slashed: bind(slashed, routed.pattern) }),
  }));
}
