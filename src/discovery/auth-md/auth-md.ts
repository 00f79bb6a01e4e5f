import { counted, sizeText } from '../../http/amounts.ts';
import { filledFile } from '../../http/template.ts';
import { codePath } from '../../installation.ts';
import { DPOP_ALGORITHMS } from '../../oauth/dpop.ts';
import { metadataPath } from '../../oauth/protected-resource.ts';
import { type DescribedService, textOf } from '../described-service.ts';
import { DISCOVERY_PATHS } from '../paths.ts';

/**
 * Writes auth.md, the instructions for agents, in the order of the auth.md convention: discover, pick a method,
 * register, authorize, exchange, use, errors, revocation. All values are those of the running service.
 */
export function authMd(service: DescribedService): string {
  return filledFile(codePath('discovery/auth-md/auth.mustache'), viewOf(service), plain);
}

/** The names in auth.mustache. */
function viewOf({ config, endpoints, mcp }: DescribedService) {
  const { origin, tokens, limits, account } = config;
  const { documents, registration, redirects } = config.clients;
  const resources = config.resources.map(({ path, name, scopes }) => ({
    path,
    url: origin + path,
    title: name ?? '',
    scopes: codes(scopes),
  }));
  const paths = ['', ...resources.map(({ path }) => path), ...(mcp === undefined ? [] : [mcp.open, mcp.member])];
  const hasPublicTools = mcp?.tools.some(({ scopes }) => scopes.size === 0) ?? false;
  return {
    name: config.name,
    origin,
    encodedOrigin: encodeURIComponent(origin),
    openapi: origin + DISCOVERY_PATHS.openapi,
    endpoints,
    protected: paths.map((path) => ({ path, metadata: origin + metadataPath(path) })),
    resources,
    otherResources: codes(resources.map(({ url }) => url)),
    resourceRequired: config.resourceIndicator === 'required',
    servesAnonymous: config.anonymous === 'serve',
    hasOpenRoutes: config.routes.some((route) => (route.anonymous ?? config.anonymous) === 'serve'),
    holdsRequests: config.routes.some(({ approve }) => approve),
    hasPublicTools,
    hasMethods: hasPublicTools || documents.enabled || registration.enabled,
    documents: documents.enabled,
    registration: registration.enabled && {
      url: origin + endpoints.registration,
      needsToken: registration.initialAccessToken !== undefined,
      perAddress: registration.perAddressPerMinute,
      unused: durationText(registration.unusedLifetime),
    },
    schemes: codes(redirects.schemes),
    domains: codes(redirects.allow),
    code: lifetime(tokens.code),
    access: lifetime(tokens.access),
    refresh: lifetime(tokens.refresh),
    connection: lifetime(tokens.refreshAbsolute),
    replay: tokens.replayWindow > 0 && durationText(tokens.replayWindow),
    proofAlgorithms: codes(DPOP_ALGORITHMS),
    account: account !== undefined && {
      url: origin + account.path,
      introspection: account.introspection,
      bodyLimit: sizeText(account.bodyLimit),
    },
    tools: mcp !== undefined &&
      config.mcp !== undefined && {
        open: origin + mcp.open,
        member: origin + mcp.member,
        challenges: config.mcp.signIn === 'on-call',
        bodyLimit: sizeText(config.mcp.bodyLimit),
        hasTools: mcp.tools.length > 0,
        list: mcp.tools.map(({ name, descriptor: { title }, scopes }) => ({
          name,
          title,
          scopes: scopes.size === 0 ? 'none: public' : codes(scopes),
        })),
      },
    scopes: Object.entries(config.scopes).map(([scope, { title }]) => ({ scope, title: textOf(title) })),
    limits: {
      member: rateText(limits.member),
      client: rateText(limits.client),
      address: rateText(limits.address),
      attempts: rateText(limits.attempts),
      body: Number.isFinite(limits.requestBody) ? sizeText(limits.requestBody) : 'no limit',
    },
    support: config.pages.support ?? '',
    policy: config.pages.policyUri ?? '',
    terms: config.pages.tosUri ?? '',
  };
}

/** Escapes an operator's text for use within a line of Markdown, so that it contains no markup and no line break. */
function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, '\\$&');
}

function codes(values: Iterable<string>): string {
  return [...values].map((value) => `\`${value}\``).join(', ');
}

function lifetime(seconds: number) {
  return { seconds, text: durationText(seconds) };
}

/** Formats seconds in the largest unit that gives a whole number: `10 minutes`. */
function durationText(seconds: number): string {
  for (const [unit, of] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const) {
    if (seconds >= of && seconds % of === 0) return counted(seconds / of, unit);
  }
  return counted(seconds, 'second');
}

function rateText(limit: { readonly requests: number; readonly per: number } | undefined): string {
  if (limit === undefined) return 'no limit';
  return `${limit.requests} requests per ${durationText(limit.per).replace(/^1 /, '')}`;
}
