import type { ConnectedApps } from '../authorization-server/connected-apps/connected-apps.ts';
import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import type { Interactions } from '../authorization-server/interactions/interactions.ts';
import type { Mount } from '../authorization-server/mount.ts';
import type { SignInDoors } from '../authorization-server/sign-in/sign-in.ts';
import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { DISCOVERY_PATHS } from '../discovery/paths.ts';
import { GatewayError, type Voice } from '../errors.ts';
import { deprecationFields } from '../http/deprecation.ts';
import type { Handler } from '../http/exchange.ts';
import { areaOf } from '../http/request-record.ts';
import type { RouteLimits } from '../limits/admission.ts';
import type { Door, DoorSpellings } from '../mcp/sign-in.ts';
import { metadataPath, type ProtectedResource, resourceOf } from '../oauth/protected-resource.ts';
import type { Protection } from '../resource-server/gate.ts';
import { MEMBER_ID } from '../upstream/own-record.ts';
import type { Routed } from '../upstream/routing.ts';

/** What a route is, besides its methods and its path. A route without a stated protection does not compile. */
export interface Route {
  readonly protection: 'public' | Protection;
  /** In whose voice its failures speak. */
  readonly voice: Voice;
  /** Whether pages of other origins may call it: never where a cookie decides anything. */
  readonly cors: boolean;
  /** Fields that such pages may send it besides those that they may send everywhere. */
  readonly pageFields?: readonly string[] | undefined;
  /** Names and values in turn, that every answer has. */
  readonly fields?: readonly string[];
  /** Left out: the limits of all routes. */
  readonly limits?: RouteLimits | undefined;
  /** Whether codes, tokens or secrets could be guessed here: what fails is then counted. */
  readonly attempts?: true;
  /** Whether the handler sends the exchange's own fields itself, with the fields of the answer that it relays. */
  readonly relays?: true;
  /** What of the member's it gives or changes, where that is known before it runs. Left out, the handler says. */
  readonly areas?: readonly string[];
  /** The operator's words for it, when it is one of theirs: what the API description says of it is made from them. */
  readonly entry?: RouteConfig;
  readonly handler: Handler;
}

/** The handlers that stand behind the doors, made by the gateway. Absent ones have no route. */
interface Doors {
  readonly provider: Mount;
  readonly interactions: Interactions;
  /** Undefined: members have no page of their apps. */
  readonly connectedApps: ConnectedApps | undefined;
  /** Undefined: members sign in on the school's own pages alone. */
  readonly signIn: SignInDoors | undefined;
  readonly stylesheet: Handler;
  readonly logo: Handler | undefined;
  readonly protectedResourceMetadata: (resource: ProtectedResource) => Handler;
  readonly userinfo: Handler;
  readonly account: { readonly path: string; readonly handler: Handler } | undefined;
  readonly mcp: McpDoors | undefined;
  /** The API description, and the way in for agents. */
  readonly openapi: Handler;
  readonly authMd: Handler;
  /** Behind one of the operator's routes. */
  readonly forward: (entry: RouteConfig) => Handler;
  /** Fields that apps may send to it because the operator says so. */
  readonly fieldsFor: (entry: RouteConfig) => readonly string[] | undefined;
  readonly limitsOf: (entry: RouteConfig) => RouteLimits | undefined;
}

interface McpDoors {
  /** Serves callers without a token, and the one that asks for one. */
  readonly open: DoorSpellings;
  readonly member: DoorSpellings;
  readonly limits: RouteLimits | undefined;
  readonly metadata: (door: Door) => Handler;
  readonly handler: (door: Door) => Handler;
}

export interface RoutesOptions {
  readonly doors: Doors;
  /** The origin first, then the parts of it that are resources of their own. */
  readonly resources: readonly [ProtectedResource, ...ProtectedResource[]];
  /** The operator's routes, first match wins, and what they do without a token unless they say otherwise. */
  readonly configured: readonly RouteConfig[];
  readonly anonymous: Protection['anonymous'];
}

/** Every public URL of the process but the legacy site's own. What stands here is all there is. */
export function routesTable({ doors, resources, configured, anonymous }: RoutesOptions): readonly Routed<Route>[] {
  const [resource] = resources;
  const { provider, interactions } = doors;
  const metadata = { protection: 'public', voice: 'oauth', cors: true } as const;
  const endpoint = { protection: 'public', voice: 'oauth', cors: true } as const;
  const guessable = { ...endpoint, attempts: true } as const;
  const page = { protection: 'public', voice: 'page', cors: false } as const;
  const member = (scope: string): Protection => ({ resource, scopes: new Set([scope]), anonymous: 'refuse' });
  const interaction = `${ENDPOINTS.interaction}/*`;

  return [
    ...resources.map((one) =>
      route('GET', metadataPath(one.path), { ...metadata, handler: doors.protectedResourceMetadata(one) }),
    ),
    route('GET', ENDPOINTS.authorizationServerMetadata, { ...metadata, handler: provider.plain }),
    route('GET', ENDPOINTS.openidConfiguration, { ...metadata, handler: provider.plain }),
    route('GET', ENDPOINTS.jwks, { ...metadata, handler: provider.plain }),
    route('GET', DISCOVERY_PATHS.openapi, { ...metadata, voice: 'problem', handler: doors.openapi }),
    route('GET', DISCOVERY_PATHS.authMd, { ...metadata, voice: 'problem', handler: doors.authMd }),

    visit(ENDPOINTS.authorization, { ...page, handler: provider.authorization }),
    visit(`${ENDPOINTS.authorization}/*`, { ...page, handler: provider.resume }),
    visit(interaction, { ...page, handler: interactions.start }),
    route('POST', interaction, { ...page, handler: interactions.decide }),
    visit(`${interaction}/return`, { ...page, handler: interactions.returned }),
    visit(`${interaction}/switch`, { ...page, handler: interactions.switchAccount }),
    ...connectedAppsRoutes(doors.connectedApps, page),
    ...signInRoutes(doors.signIn, page),
    route('GET', ENDPOINTS.stylesheet, { ...page, handler: doors.stylesheet }),
    ...(doors.logo === undefined ? [] : [route('GET', ENDPOINTS.logo, { ...page, handler: doors.logo })]),

    ...registrationRoutes(provider.registration, guessable),
    route('POST', ENDPOINTS.pushedAuthorization, { ...guessable, handler: provider.form }),
    route('POST', ENDPOINTS.token, { ...guessable, handler: provider.form }),
    route('POST', ENDPOINTS.revocation, { ...guessable, handler: provider.form }),
    route('POST', ENDPOINTS.introspection, { ...guessable, handler: provider.form }),
    route('GET|POST', ENDPOINTS.userinfo, {
      ...endpoint,
      protection: member('openid'),
      areas: [areaOf.route(ENDPOINTS.userinfo, ['openid'])],
      handler: doors.userinfo,
    }),

    ...(doors.account === undefined
      ? []
      : [
          route('POST', doors.account.path, {
            protection: member('account:read'),
            voice: 'graphql',
            cors: true,
            handler: doors.account.handler,
          }),
        ]),

    ...(doors.mcp === undefined ? [] : mcpRoutes(doors.mcp, metadata)),

    ...configured.map((entry): Routed<Route> => {
      const { methods, pattern } = parseMatch(entry.match);
      const protection = {
        resource: resourceOf(pattern, resources),
        scopes: new Set(entry.scopes),
        anonymous: entry.anonymous ?? anonymous,
      };
      return {
        methods,
        pattern: pattern.replaceAll(MEMBER_ID, '*'),
        value: {
          protection,
          voice: 'problem',
          cors: true,
          pageFields: doors.fieldsFor(entry),
          limits: doors.limitsOf(entry),
          relays: true,
          ...(entry.deprecated === undefined ? {} : { fields: deprecationFields(entry.deprecated) }),
          areas: [areaOf.route(pattern, entry.scopes)],
          entry,
          handler: doors.forward(entry),
        },
      };
    }),
  ];
}

function signInRoutes(doors: SignInDoors | undefined, page: Omit<Route, 'handler'>): readonly Routed<Route>[] {
  if (doors === undefined) return [];
  const { submit, callback } = doors;
  return [
    visit(ENDPOINTS.signIn, { ...page, handler: doors.page }),
    ...(submit === undefined ? [] : [route('POST', ENDPOINTS.signIn, { ...page, handler: submit })]),
    ...(callback === undefined ? [] : [visit(`${ENDPOINTS.signIn}/callback/*`, { ...page, handler: callback })]),
  ];
}

/**
 * One handler behind two doors, each with the metadata of its own address, which is what apps compare it with, to the
 * letter: so one that was given the address with a final slash meets a door of that name.
 */
function mcpRoutes(doors: McpDoors, metadata: Omit<Route, 'handler'>): readonly Routed<Route>[] {
  const { open, member, limits } = doors;
  return ([open, member] as const).flatMap((spellings) => {
    const anonymous = spellings === open ? 'serve' : 'refuse';
    const described = (door: Door): Route => ({ ...metadata, handler: doors.metadata(door) });
    const value = (door: Door): Route => {
      const protection: Protection = { resource: door.resource, scopes: new Set(), offered: door.offered, anonymous };
      return { protection, voice: 'jsonrpc', cors: true, limits, handler: doors.handler(door) };
    };
    const { plain, slashed } = spellings;
    const { path } = plain.resource;
    return [
      { ...route('GET', metadataPath(path), described(plain)), slashed: described(slashed) },
      { ...route('POST', path, value(plain)), slashed: value(slashed) },
    ];
  });
}

/** Switched off, it is nobody's: what the legacy site has there would pass for ours. */
function connectedAppsRoutes(apps: ConnectedApps | undefined, page: Omit<Route, 'handler'>): readonly Routed<Route>[] {
  if (apps === undefined) return closed([ENDPOINTS.apps, `${ENDPOINTS.apps}/**`], page);
  const disconnect = `${ENDPOINTS.apps}/disconnect`;
  return [
    visit(ENDPOINTS.apps, { ...page, handler: apps.list }),
    visit(`${ENDPOINTS.apps}/return`, { ...page, handler: apps.returned }),
    visit(disconnect, { ...page, handler: apps.ask }),
    route('POST', disconnect, { ...page, handler: apps.disconnect }),
  ];
}

/** Closed, it is nobody's: the legacy site must not see what apps send there. */
function registrationRoutes(
  registration: Mount['registration'],
  endpoint: Omit<Route, 'handler'>,
): readonly Routed<Route>[] {
  const own = `${ENDPOINTS.registration}/*`;
  if (registration === undefined) return closed([ENDPOINTS.registration, own], endpoint);
  return [
    route('POST', ENDPOINTS.registration, { ...endpoint, handler: registration.register }),
    route('GET|PUT|DELETE', own, { ...endpoint, handler: registration.manage }),
  ];
}

function closed(patterns: readonly string[], endpoint: Omit<Route, 'handler'>): readonly Routed<Route>[] {
  const handler = () => {
    throw new GatewayError('not_found');
  };
  return patterns.map((pattern) => ({ methods: undefined, pattern, value: { ...endpoint, handler } }));
}

function route(methods: string, pattern: string, value: Route): Routed<Route> {
  return { methods: methods.split('|'), pattern, value };
}

/** A step of a sign-in or an approval: a GET that does something, which HEAD must not. */
function visit(pattern: string, value: Route): Routed<Route> {
  return { methods: ['GET'], pattern, head: false, value };
}
