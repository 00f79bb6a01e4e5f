import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { DISCOVERY_PATHS } from '../discovery/paths.ts';
import { GatewayError } from '../errors.ts';
import { areaOf } from '../http/request-record.ts';
import type { McpEndpoint } from '../mcp/sign-in.ts';
import { metadataPath, resourceOf } from '../oauth/protected-resource.ts';
import { ACCOUNT_SCOPE } from '../oauth/scope.ts';
import type { Protection } from '../resource-server/gate.ts';
import { routedBy } from '../upstream/own-record.ts';
import type { Routed } from '../upstream/routing.ts';
import type { RouteRow, Served } from './route.ts';

const ENDPOINT = { protection: 'public', voice: 'oauth', cors: true } as const;
const DOCUMENT = { ...ENDPOINT, constant: true } as const;
const GUESSABLE = { ...ENDPOINT, attempts: true } as const;
const ASSET = { protection: 'public', voice: 'page', cors: false, host: 'both' } as const;
/** Every step of sign-in, consent and connected apps, and every answer with a code. */
const PAGE = { ...ASSET, visits: true, host: 'pages' } as const;
const HAND_OVER = `${ENDPOINTS.handOver}/*`;
const APPROVAL = `${ENDPOINTS.approvals}/*`;
const INTERACTION = `${ENDPOINTS.interaction}/*`;

/** Every public URL of the gate, except those of the legacy site. To add a route, add a row. */
export function routeRows(served: Served): readonly Routed<RouteRow>[] {
  const { resources, signIn } = served;
  const [resource] = resources;
  const member = (scope: string): Protection => ({ resource, scopes: new Set([scope]), anonymous: 'refuse' });

  return [
    ...resources.map((one) =>
      route('GET', metadataPath(one.path), { ...DOCUMENT, handler: (of) => of.protectedResourceMetadata(one) }),
    ),
    route('GET', ENDPOINTS.authorizationServerMetadata, { ...DOCUMENT, handler: (of) => of.provider.plain }),
    route('GET', ENDPOINTS.openidConfiguration, { ...DOCUMENT, handler: (of) => of.provider.plain }),
    // No constant: keys rotate by themselves, and may have to go at once.
    route('GET', ENDPOINTS.jwks, { ...ENDPOINT, handler: (of) => of.provider.plain }),
    route('GET', DISCOVERY_PATHS.openapi, description('openapi')),
    route('GET', DISCOVERY_PATHS.authMd, description('authMd')),

    visit(ENDPOINTS.authorization, { ...PAGE, handler: (of) => of.provider.authorization }),
    route('POST', ENDPOINTS.authorization, { ...PAGE, handler: (of) => of.provider.postedAuthorization }),
    visit(`${ENDPOINTS.authorization}/*`, { ...PAGE, handler: (of) => of.provider.resume }),
    visit(INTERACTION, { ...PAGE, handler: (of) => of.interactions.start }),
    route('POST', INTERACTION, { ...PAGE, handler: (of) => of.interactions.decide }),
    visit(`${INTERACTION}/return`, { ...PAGE, handler: (of) => of.interactions.returned }),
    visit(`${INTERACTION}/switch`, { ...PAGE, handler: (of) => of.interactions.switchAccount }),

    visit(ENDPOINTS.apps, { ...PAGE, handler: (of) => of.connectedApps.list }),
    visit(`${ENDPOINTS.apps}/return`, { ...PAGE, handler: (of) => of.connectedApps.returned }),
    visit(`${ENDPOINTS.apps}/app`, { ...PAGE, handler: (of) => of.connectedApps.details }),
    visit(`${ENDPOINTS.apps}/disconnect`, { ...PAGE, handler: (of) => of.connectedApps.ask }),
    route('POST', `${ENDPOINTS.apps}/disconnect`, { ...PAGE, handler: (of) => of.connectedApps.disconnect }),
    route('POST', `${ENDPOINTS.apps}/sign-out`, { ...PAGE, handler: (of) => of.connectedApps.signOut }),
    ...when(served.approvals, [
      visit(APPROVAL, { ...PAGE, handler: (of) => of.approvals?.show }),
      visit(`${APPROVAL}/return`, { ...PAGE, handler: (of) => of.approvals?.returned }),
      route('POST', APPROVAL, { ...PAGE, handler: (of) => of.approvals?.decide }),
    ]),
    ...when(signIn !== undefined, [visit(ENDPOINTS.signIn, { ...PAGE, handler: (of) => of.signIn?.page })]),
    ...when(signIn?.form === true, [route('POST', ENDPOINTS.signIn, { ...PAGE, handler: (of) => of.signIn?.submit })]),
    ...when(signIn?.callback === true, [
      visit(`${ENDPOINTS.signIn}/callback/*`, { ...PAGE, handler: (of) => of.signIn?.callback }),
    ]),
    ...when(signIn?.handOver === true, [
      visit(HAND_OVER, { ...PAGE, host: undefined, handler: (of) => of.signIn?.handOver }),
      visit(`${HAND_OVER}/return`, { ...PAGE, host: undefined, handler: (of) => of.signIn?.handOver }),
    ]),
    route('GET', ENDPOINTS.stylesheet, { ...ASSET, handler: (of) => of.stylesheet }),
    ...when(served.logo, [route('GET', ENDPOINTS.logo, { ...ASSET, handler: (of) => of.logo })]),

    // When disabled, registration answers 404, so that the legacy site does not see what apps send.
    ...when(
      served.registration,
      [
        route('POST', ENDPOINTS.registration, { ...GUESSABLE, handler: (of) => of.provider.registration?.register }),
        route('GET|PUT|DELETE', `${ENDPOINTS.registration}/*`, {
          ...GUESSABLE,
          handler: (of) => of.provider.registration?.manage,
        }),
      ],
      closed([ENDPOINTS.registration, `${ENDPOINTS.registration}/*`], GUESSABLE),
    ),
    route('POST', ENDPOINTS.pushedAuthorization, { ...GUESSABLE, handler: (of) => of.provider.form }),
    route('POST', ENDPOINTS.token, { ...GUESSABLE, handler: (of) => of.provider.form }),
    route('POST', ENDPOINTS.revocation, { ...GUESSABLE, handler: (of) => of.provider.form }),
    route('POST', ENDPOINTS.introspection, { ...GUESSABLE, handler: (of) => of.provider.form }),
    route('GET|POST', ENDPOINTS.userinfo, {
      ...ENDPOINT,
      protection: member('openid'),
      areas: [areaOf.route(ENDPOINTS.userinfo, ['openid'])],
      handler: (of) => of.userinfo,
    }),

    ...(served.accountPath === undefined
      ? []
      : [
          route('POST', served.accountPath, {
            protection: member(ACCOUNT_SCOPE),
            voice: 'graphql',
            cors: true,
            handler: (of) => of.account?.handler,
            page: (of) => of.account?.page,
          }),
        ]),
    ...(served.mcp === undefined ? [] : mcpRoutes(served.mcp)),
    ...served.configured.map((entry) => configuredRoute(entry, served)),
  ];
}

/** A configured route. */
function configuredRoute(entry: RouteConfig, { resources, anonymous }: Served): Routed<RouteRow> {
  const { pattern } = parseMatch(entry.match);
  return {
    ...routedBy(entry),
    value: {
      protection: {
        resource: resourceOf(pattern, resources),
        scopes: new Set(entry.scopes),
        anonymous: entry.anonymous ?? anonymous,
      },
      voice: 'problem',
      cors: true,
      pageFields: (of) => of.fieldsFor(entry),
      limits: (of) => of.limitsOf(entry),
      role: (of) => of.roleOf(entry),
      relays: true,
      areas: [areaOf.route(pattern, entry.scopes)],
      entry,
      handler: (of) => of.forward(entry),
    },
  };
}

/**
 * One handler at two endpoints: /mcp serves callers without a token, /mcp/member asks them to sign in. Each has
 * metadata for its own URL, also with a trailing slash, because apps compare `resource` with the URL they were given,
 * character by character.
 */
function mcpRoutes({ open, member }: NonNullable<Served['mcp']>): readonly Routed<RouteRow>[] {
  return ([open, member] as const).flatMap((spellings) => {
    const anonymous = spellings === open ? 'serve' : 'refuse';
    const described = (endpoint: McpEndpoint): RouteRow => ({
      ...DOCUMENT,
      handler: (of) => of.mcp?.metadata(endpoint),
    });
    const value = (endpoint: McpEndpoint): RouteRow => ({
      protection: { resource: endpoint.resource, scopes: new Set(), offered: endpoint.offered, anonymous },
      voice: 'jsonrpc',
      cors: true,
      handler: (of) => of.mcp?.handler(endpoint),
      page: (of) => of.mcp?.page,
    });
    const { plain, slashed } = spellings;
    const { path } = plain.resource;
    return [
      { ...route('GET', metadataPath(path), described(plain)), slashed: described(slashed) },
      { ...route('POST', path, value(plain)), slashed: value(slashed) },
    ];
  });
}

/** A document about the service, which people get as a page. */
function description(name: 'openapi' | 'authMd'): RouteRow {
  return { ...DOCUMENT, voice: 'problem', handler: (of) => of[name].handler, page: (of) => of[name].page };
}

function when(served: boolean, rows: readonly Routed<RouteRow>[], otherwise: readonly Routed<RouteRow>[] = []) {
  return served ? rows : otherwise;
}

function closed(patterns: readonly string[], like: Omit<RouteRow, 'handler'>): readonly Routed<RouteRow>[] {
  const handler = () => {
    throw new GatewayError('not_found');
  };
  return patterns.map((pattern) => ({ methods: undefined, pattern, value: { ...like, handler: () => handler } }));
}

function route(methods: string, pattern: string, value: RouteRow): Routed<RouteRow> {
  return { methods: methods.split('|'), pattern, value };
}

/** A step of a sign-in or an approval: a GET with an effect, which HEAD must not have. */
function visit(pattern: string, value: RouteRow): Routed<RouteRow> {
  return { methods: ['GET'], pattern, head: false, value };
}
