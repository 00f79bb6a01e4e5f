import { setImmediate as nextTurn } from 'node:timers/promises';
import { covers, segmentsOf } from '../../config/route-order.ts';
import { parseMatch, type RouteConfig } from '../../config/schema.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { type DescribedService, type RunningRoute, textOf } from '../described-service.ts';
import { DISCOVERY_PATHS } from '../paths.ts';
import { ownComponents } from './components.ts';
import { gateApi } from './gate-api.ts';
import { pathTemplates } from './path-template.ts';
import { METHODS, Paths } from './paths.ts';
import { withEveryRequest } from './responses.ts';
import { plainOperation, type RouteFacts, routeFacts } from './route-operation.ts';
import { securityOf, securitySchemes } from './security.ts';
import type { UpstreamApi } from './upstream/import-api.ts';

export interface DocumentParts {
  readonly service: DescribedService;
  /** The route table, in order of precedence. */
  readonly routes: readonly RunningRoute[];
  /** The API that an upstream describes, if known. */
  readonly apiOf: (upstream: string) => UpstreamApi | undefined;
}

/** False for rows that are not part of the API: pages for people, and alternative spellings of a URL. */
function isDescribed({ value, pattern, methods }: RunningRoute): boolean {
  return methods !== undefined && value.voice !== 'page' && !pattern.endsWith('/');
}

/**
 * Generates the OpenAPI 3.1 document of the running service. The output is byte-for-byte reproducible from the same
 * input. Rejects with TypeError if a route of the gate's own has no description.
 */
export async function openapiDocument({ service, routes, apiOf }: DocumentParts): Promise<JsonObject> {
  const { config } = service;
  // The parser of YAML takes so long that other requests get their turn in between.
  const gate = gateApi(service);
  await nextTurn();
  const own = ownComponents(config);
  await nextTurn();
  const paths = new Paths();
  const tags = new Map<string, string>();
  const extra: Record<string, JsonObject> = {};

  for (const route of routes) {
    if (route.value.entry !== undefined) continue;
    const [template] = pathTemplates(route.pattern);
    for (const method of route.methods ?? []) {
      const described = gate.operationAt(method, template?.path ?? '');
      if (described === undefined) {
        if (isDescribed(route)) throw new TypeError(`The OpenAPI document does not know ${method} ${route.pattern}.`);
        continue;
      }
      const { path, operation } = described;
      for (const tag of operation.tags as readonly string[]) tags.set(tag, gate.tags[tag] ?? tag);
      const { protection } = route.value;
      const security = protection === 'public' ? (operation.security ?? []) : securityOf(protection);
      const refusals = protection === 'public' ? {} : REFUSALS;
      const responses = withEveryRequest({ ...refusals, ...(operation.responses as JsonObject) });
      paths.add({ path, parameters: [] }, method, { ...operation, responses, security });
    }
  }

  const earlier: { readonly methods: readonly string[] | undefined; readonly segments: readonly string[] }[] = [];
  const isShadowed = (method: string, segments: readonly string[]) =>
    earlier.some((one) => (one.methods?.includes(method) ?? true) && covers(one.segments, segments));
  for (const { value } of routes) {
    const { entry, protection } = value;
    if (entry === undefined || protection === 'public') continue;
    const { methods, pattern } = parseMatch(entry.match);
    for (const method of methods ?? ALL_METHODS) {
      if (!METHODS.some((one) => one === method)) continue;
      const facts = routeFacts(config, entry, protection, method);
      const found = operationsOf(entry, method, facts);
      for (const { template, operation } of found) {
        if (isShadowed(method, segmentsOf(template.path))) continue;
        paths.add(template, method, { ...operation, tags: [facts.tag], security: facts.security });
        tags.set(facts.tag, areaText(facts.tag));
      }
    }
    earlier.push({ methods, segments: segmentsOf(pattern) });
  }

  function operationsOf(entry: RouteConfig, method: string, facts: RouteFacts) {
    const imported = apiOf(entry.upstream)?.operationsOf(entry, method, facts);
    if (imported !== undefined) {
      for (const { schemas } of imported) Object.assign(extra, schemas);
      return imported;
    }
    const operation = plainOperation(facts, method);
    return pathTemplates(entry.match.slice(entry.match.indexOf(' ') + 1)).map((template) => ({ template, operation }));
  }

  function areaText(area: string): string {
    const titles = Object.entries(config.scopes)
      .filter(([scope]) => scope.split(':', 1)[0] === area)
      .map(([, { title }]) => textOf(title));
    return titles.length === 0 ? 'Available to every member.' : `${titles.join('. ')}.`;
  }

  return {
    openapi: '3.1.1',
    info: info(service),
    servers: [{ url: config.origin, description: config.name }],
    externalDocs: { url: config.origin + DISCOVERY_PATHS.authMd, description: 'How an app or an agent gets access.' },
    tags: [...tags].map(([name, description]) => ({ name, description })),
    paths: paths.json(),
    components: used(paths.json(), {
      ...own,
      schemas: { ...own.schemas, ...extra },
      securitySchemes: securitySchemes(service),
    }),
  };
}

const ALL_METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'];
const REFUSALS: JsonObject = {
  401: { $ref: '#/components/responses/Unauthorized' },
  403: { $ref: '#/components/responses/Forbidden' },
};

function info({ config }: DescribedService): JsonObject {
  const { support, tosUri } = config.pages;
  const contact = support?.startsWith('mailto:') ? { email: support.slice('mailto:'.length) } : { url: support };
  return {
    title: config.name,
    version: '1',
    summary: 'What apps and agents can do for members of the course site.',
    description: [
      `Members connect an app with OAuth 2.0, as described at ${config.origin}${DISCOVERY_PATHS.authMd}.`,
      'Every GET operation also supports HEAD, except the authorization endpoint. Every response has X-Request-Id.',
      'Where requests are limited, the response reports the remaining requests in RateLimit and RateLimit-Policy.',
    ].join('\n\n'),
    ...(support === undefined ? {} : { contact }),
    ...(tosUri === undefined ? {} : { termsOfService: tosUri }),
  };
}

/** The components that are referenced, directly or by one another. Security schemes are always included. */
function used(paths: JsonObject, components: Readonly<Record<string, JsonObject>>): JsonObject {
  const found = new Set<string>();
  // Iterative, because schemas of an upstream may reference each other in a chain of thousands.
  const open: unknown[] = [paths];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { $ref } = node as { $ref?: unknown };
    if (typeof $ref === 'string' && !found.has($ref)) {
      found.add($ref);
      const [kind = '', name = ''] = $ref.split('/').slice(2);
      open.push(components[kind]?.[name]);
    }
    for (const inner of Object.values(node)) open.push(inner);
  }
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [
      kind,
      Object.fromEntries(
        Object.entries(all).filter(([name]) => kind === 'securitySchemes' || found.has(`#/components/${kind}/${name}`)),
      ),
    ]),
  );
}
