import { DECISION_PATHS } from '../../../../decisions/protocol.ts';
import { hostAndPort } from '../../../host-port.ts';
import { forgedRemoved, localReplies } from '../envoy/connection-manager.ts';
import { ALWAYS, REFUSAL_FIELDS, SET_BY_DECISIONS } from '../envoy/fields.ts';
import type { AskingGateway } from '../gateway.ts';
import {
  DECISION_LIMITS,
  firstLine,
  IDENTITY_NAMES,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginRoute,
  type SnippetFile,
} from '../plugin-plan.ts';
import { canonicalExpression, gateExpression, inAscii, RESOLVED, rawExpression, wildcards } from '../raw-paths.ts';
import { filledIn } from '../yaml-template.ts';

export const istio = {
  name: 'istio',
  title: 'Istio',
  unixSockets: false,
  files,
} as const satisfies AskingGateway;

/** Istio's settings for an ingress gateway. Throws Error if Istio cannot reach the gate by a name and a port. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const { address } = plan.decisions;
  if ('path' in address)
    throw new Error(
      'Istio cannot ask over a Unix socket: `listen.decisions.address` must be HOST:PORT, such as 0.0.0.0:9092.',
    );
  const { host } = hostAndPort(plan.gate);
  if (!host.includes('.') || /^[\d.:]+$/.test(host))
    throw new Error('Istio needs --gate with the Service of coursegate: coursegate.default.svc.cluster.local:80.');
  return [
    { name: 'istio-mesh.yaml', text: meshConfig(plan, host, address.port) },
    { name: 'istio.yaml', text: objects(plan, host) },
  ];
}

/**
 * All field names, by how they begin, because the provider takes no other pattern. How the body is framed
 * (`transfer-encoding`, `te`) must not be among them.
 */
const ALL_FIELDS = [
  ...[...'abcdefghijklmnopqrsuvwxyz0123456789'].map((start) => `${start}*`),
  ...[...'abcdfghijklmnopqstuvwxyz'].map((second) => `t${second}*`),
  ...['trac*', 'tru*'],
];

function meshConfig(plan: PluginPlan, service: string, port: number): string {
  const { fingerprint, decisions } = plan;
  return `# ${firstLine(plan)}
# Merge this into the configuration of the mesh: \`meshConfig\` of the istiod chart, or the ConfigMap istio.
${filledIn('istio/mesh.yaml', {
  service,
  port,
  timeout: `${DECISION_LIMITS.answer}s`,
  path: DECISION_PATHS.envoy,
  fields: ALL_FIELDS,
  credentials: { 'x-coursegate-config': fingerprint, 'x-coursegate-secret': decisions.secret ?? '' },
  set: SET_BY_DECISIONS,
  refusal: [...REFUSAL_FIELDS, ...ALWAYS],
  always: ALWAYS,
})}`;
}

function objects(plan: PluginPlan, service: string): string {
  const { origin, routes } = plan;
  const forwarded = routes.filter(({ upstream }) => upstream !== undefined);
  return `# ${firstLine(plan)}
# Change the labels of your ingress gateway, the name of its Gateway (coursegate-site) and the Service of your site
# (site.internal). Then: kubectl apply -f FILE
${filledIn('istio/istio.yaml', {
  operations: forwarded.map((route) => ({ operation: operation(origin.host, route) })),
  removed: forgedRemoved(),
  replies: localReplies(),
  host: new URL(origin.url).hostname,
  http: entries(plan, service),
})}`;
}

/** What AuthorizationPolicy asks about: at least all that \`canonicalExpression\` matches. */
function operation(host: string, { pattern: given, methods }: PluginRoute) {
  const pattern = wildcards(given);
  const paths = pattern.endsWith('/**') ? [pattern.slice(0, -3), pattern] : [pattern];
  const inner = pattern.replace(/\/\*\*$/, '').includes('*');
  const written = (path: string) =>
    inner ? path.replaceAll('/**', '/{**}').replace(/\/\*(?=\/|$)/g, '/{*}') : path.replace(/\/\*\*$/, '/*');
  return {
    hosts: [host, ...(host.includes(':') ? [] : [`${host}:*`])],
    paths: paths.filter((path) => path !== '').map((path) => written(inAscii(path))),
    ...(methods === undefined ? { notMethods: ['OPTIONS'] } : { methods }),
  };
}

/** The entries of a VirtualService. The first one that matches counts. */
function entries({ paths, routes, routePatterns, gate }: PluginPlan, service: string): readonly object[] {
  const toGate = (regex: string, more: object = {}) => ({
    match: [{ uri: { regex }, ...more }],
    route: [{ destination: { host: service, port: { number: hostAndPort(gate).port } } }],
    timeout: '0s',
  });
  return [
    toGate(gateExpression(paths)),
    toGate(RESOLVED),
    ...routes.flatMap((one) => forwardedEntries(one, toGate)),
    ...routePatterns.map((pattern) => toGate(rawExpression(pattern))),
    {
      route: [{ destination: { host: 'site.internal', port: { number: 80 } } }],
      headers: { request: { remove: IDENTITY_NAMES } },
      timeout: '0s',
    },
  ];
}

function forwardedEntries(
  { pattern, methods, upstream }: PluginRoute,
  toGate: (regex: string, more: object) => object,
): readonly object[] {
  // Without methods, OPTIONS is the only one that goes to the gate.
  const method = { regex: methods === undefined ? '[A-NP-Z].*|O[A-OQ-Z].*' : methods.join('|') };
  const regex = canonicalExpression(pattern);
  if (upstream === undefined) return [toGate(regex, { method })];
  const { hostname, port, host, hiddenFields } = upstream;
  const sent = {
    route: [{ destination: { host: hostname, port: { number: port } } }],
    rewrite: { authority: host },
    timeout: '0s',
  };
  const response = (set: object) => ({ headers: { response: { remove: hiddenFields, ...set } } });
  return [
    // A member's request has an Authorization field.
    {
      match: [{ uri: { regex }, method, headers: { authorization: { regex: '.*' } } }],
      ...sent,
      ...response({ set: { 'cache-control': MEMBER_CACHE_CONTROL } }),
    },
    { match: [{ uri: { regex }, method }], ...sent, ...response({ add: { vary: 'Authorization' } }) },
  ];
}
