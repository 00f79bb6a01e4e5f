import { hostAndPort } from '../../../host-port.ts';
import type { GatePaths } from '../gate-paths.ts';
import type { AskingGateway } from '../gateway.ts';
import {
  firstLine,
  IDENTITY_NAMES,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginRoute,
  type SnippetFile,
} from '../plugin-plan.ts';
import { canonicalExpression, RESOLVED, wildcards } from '../raw-paths.ts';
import { filledIn } from '../yaml-template.ts';

interface Service {
  readonly name: string;
  readonly namespace: string;
  readonly port: number;
}

export const gatewayApi = {
  name: 'gateway-api',
  title: 'Gateway API',
  unixSockets: false,
  files,
} as const satisfies AskingGateway;

/** The Gateway API's objects, with the experimental ExternalAuth filter. Throws Error if a host is not that of a Service. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const { decisions, gate, upstreams } = plan;
  const { grpc } = decisions;
  if (grpc === undefined || 'path' in grpc)
    throw new Error('This needs `listen.decisions.grpc` with HOST:PORT, such as 0.0.0.0:9093.');
  const { host, port } = hostAndPort(gate);
  const own = serviceAt(host, port, undefined);
  const elsewhere = new Set(
    upstreams.map((one) => serviceAt(one.hostname, one.port, own).namespace).filter((one) => one !== own.namespace),
  );
  const text = `# ${firstLine(plan)}
# Change the name of your Gateway (site) and the Service of your site (site-service). Then: kubectl apply -f FILE
# The filter has no field for the secret: let your gateway set X-Coursegate-Secret on each request before it asks, and
# do the same with X-Coursegate-Config: ${plan.fingerprint}. Without the secret, every request is refused with 503.
# Other spellings of these paths may reach your site, as gateways match them differently: let your backend verify
# X-Coursegate-Assertion, which is for one method and path, rather than trust X-Member-Id.
${filledIn('gateway-api/gateway-api.yaml', {
  namespace: own.namespace,
  host: new URL(plan.origin.url).hostname,
  rules: rules(plan, own, grpc.port),
})}${[...elsewhere].map((to) => filledIn('gateway-api/reference-grant.yaml', { from: own.namespace, to })).join('')}`;
  return [{ name: 'gateway-api.yaml', text }];
}

/** @param near in whose namespace a name without one is looked up */
function serviceAt(host: string, port: number, near: Service | undefined): Service {
  const [name = '', namespace = near?.namespace, svc = 'svc'] = host.split('.');
  if (namespace !== undefined && svc === 'svc' && !/^\d+$/.test(name)) return { name, namespace, port };
  throw new Error(
    near === undefined
      ? 'This needs --gate with the Service of coursegate: coursegate.default.svc:80.'
      : `The upstream at ${host} must be a Service, such as school.default.svc.`,
  );
}

/** The most specific rule counts: exact paths before prefixes, longer ones first, and with a method before without. */
function rules({ paths, routes, routePatterns, origin }: PluginPlan, own: Service, port: number): readonly object[] {
  const toGate = (matches: readonly object[]) => ({ matches, backendRefs: [{ name: own.name, port: own.port }] });
  const asked = routes.flatMap((route) =>
    route.upstream === undefined ? [] : [forwarded(route, own, port, origin.host)],
  );
  const others = routePatterns.map((pattern) => toGate([{ path: pathOf(pattern) }]));
  const through = routes.filter(({ upstream }) => upstream === undefined);
  return [
    ...chunks(gateMatches(paths), 8).map(toGate),
    toGate([{ path: { type: 'RegularExpression', value: RESOLVED } }]),
    ...through.map((route) => toGate(matchesOf(route))),
    ...asked,
    ...others,
    {
      filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: FORGED } }],
      backendRefs: [{ name: 'site-service', port: 80 }],
    },
  ];
}

/** At most 16 names may be removed by one filter. */
const FORGED = IDENTITY_NAMES.flatMap((name) => [name, name.replaceAll('-', '_')]);

function forwarded(route: PluginRoute, own: Service, port: number, origin: string): object {
  const { hostname, port: upstreamPort, hiddenFields, host } = route.upstream as NonNullable<PluginRoute['upstream']>;
  const { name, namespace, port: number } = serviceAt(hostname, upstreamPort, own);
  const externalAuth = { protocol: 'GRPC', backendRef: { name: own.name, port } };
  const rewrite = host === origin ? [] : [{ type: 'URLRewrite', urlRewrite: { hostname: host.replace(/:\d+$/, '') } }];
  const set = [{ name: 'cache-control', value: MEMBER_CACHE_CONTROL }];
  return {
    matches: matchesOf(route),
    filters: [
      { type: 'ExternalAuth', externalAuth },
      { type: 'ResponseHeaderModifier', responseHeaderModifier: { set, remove: hiddenFields.slice(0, 16) } },
      ...rewrite,
    ],
    backendRefs: [{ name, ...(namespace === own.namespace ? {} : { namespace }), port: number }],
  };
}

/** One for each method, because a match has no list of them. */
function matchesOf({ pattern, methods }: PluginRoute): readonly object[] {
  const path = pathOf(pattern);
  const known = methods ?? ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
  return known.map((method) => ({ path, method }));
}

function pathOf(given: string): object {
  const pattern = wildcards(given);
  const fixed = pattern.replace(/\/\*\*$/, '');
  if (fixed.includes('*')) return { type: 'RegularExpression', value: canonicalExpression(pattern) };
  return { type: fixed === pattern ? 'Exact' : 'PathPrefix', value: fixed || '/' };
}

function gateMatches({ exact, under, patterns }: GatePaths): readonly object[] {
  return [
    ...exact.map((value) => ({ path: { type: 'Exact', value } })),
    ...under.map((value) => ({ path: { type: 'PathPrefix', value: value.replace(/\/$/, '') } })),
    ...patterns.map((value) => ({ path: { type: 'RegularExpression', value } })),
  ];
}

function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
