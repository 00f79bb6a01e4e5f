import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { ALWAYS, REFUSAL_FIELDS } from './envoy.ts';
import { FORGED_REMOVED, hostAndPort, LOCAL_REPLIES, SET_BY_DECISIONS } from './envoy-bootstrap.ts';
import { canonicalExpression, gateExpression, inAscii, RESOLVED, rawExpression, wildcards } from './envoy-routes.ts';
import {
  DECISION_LIMITS,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginOptions,
  type PluginRoute,
  type SnippetFile,
} from './plugin-options.ts';

/** Istio's settings for an ingress gateway. Throws Error if Istio cannot reach the gate by a name and a port. */
export function istio(options: PluginOptions): readonly SnippetFile[] {
  const { address } = options.decisions;
  if ('path' in address)
    throw new Error(
      'Istio cannot ask over a Unix socket: `listen.decisions.address` must be HOST:PORT, such as 0.0.0.0:9092.',
    );
  const { host } = hostAndPort(options.gate);
  if (!host.includes('.') || /^[\d.:]+$/.test(host))
    throw new Error('Istio needs --gate with the Service of coursegate: coursegate.default.svc.cluster.local:80.');
  return [
    { name: 'istio-mesh.yaml', text: meshConfig(options, host, address.port) },
    { name: 'istio.yaml', text: objects(options, host) },
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

/** Over HTTP, because over gRPC Istio can send nothing of its own, such as the secret. */
function meshConfig(options: PluginOptions, service: string, port: number): string {
  const { fingerprint, decisions } = options;
  const additional = { 'x-coursegate-config': fingerprint, 'x-coursegate-secret': decisions.secret ?? '' };
  return `# ${firstLine(options)}
# Merge this into the configuration of the mesh: \`meshConfig\` of the istiod chart, or the ConfigMap istio.
meshConfig:
  extensionProviders:
    - name: coursegate
      envoyExtAuthzHttp:
        service: ${service}
        port: ${port}
        timeout: ${DECISION_LIMITS.answer}s
        failOpen: false
        # Becomes 503, with Retry-After, by the EnvoyFilter in istio.yaml. coursegate never answers with this status.
        statusOnError: "508"
        pathPrefix: ${DECISION_PATHS.envoy}
        includeRequestHeadersInCheck: ${JSON.stringify(ALL_FIELDS)}
        includeAdditionalHeadersInCheck: ${JSON.stringify(additional)}
        headersToUpstreamOnAllow: ${JSON.stringify(SET_BY_DECISIONS)}
        headersToDownstreamOnDeny: ${JSON.stringify([...REFUSAL_FIELDS, ...ALWAYS])}
        headersToDownstreamOnAllow: ${JSON.stringify(ALWAYS)}
`;
}

function objects(options: PluginOptions, service: string): string {
  const { origin, routes } = options;
  const forwarded = routes.filter(({ upstream }) => upstream !== undefined);
  return `# ${firstLine(options)}
# Change the labels of your ingress gateway, the name of its Gateway (coursegate-site) and the Service of your site
# (site.internal). Then: kubectl apply -f FILE
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: coursegate, namespace: istio-system }
spec:
  selector: { matchLabels: { istio: ingressgateway } }
  action: CUSTOM
  provider: { name: coursegate }
  rules:
    - to:
${forwarded.map((route) => `        - operation: ${JSON.stringify(operation(origin.host, route))}`).join('\n')}
---
# No client can send fields that identify a member, in any spelling, and a 503 is that of coursegate.
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: { name: coursegate, namespace: istio-system }
spec:
  workloadSelector: { labels: { istio: ingressgateway } }
  configPatches:
    - applyTo: NETWORK_FILTER
      match: { context: GATEWAY, listener: { filterChain: { filter: { name: envoy.filters.network.http_connection_manager } } } }
      patch:
        operation: MERGE
        value:
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
            common_http_protocol_options: { headers_with_underscores_action: DROP_HEADER }
            early_header_mutation_extensions: ${JSON.stringify(FORGED_REMOVED)}
            local_reply_config: ${JSON.stringify(LOCAL_REPLIES)}
---
# What AuthorizationPolicy asks about goes to your backend, and other spellings of the same paths to coursegate.
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: coursegate, namespace: istio-system }
spec:
  hosts: [${JSON.stringify(new URL(origin.url).hostname)}]
  gateways: [coursegate-site]
  http:
${entries(options, service)
  .map((one) => `    - ${JSON.stringify(one)}`)
  .join('\n')}
`;
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
function entries({ paths, routes, gate }: PluginOptions, service: string): readonly object[] {
  const toGate = (regex: string, more: object = {}) => ({
    match: [{ uri: { regex }, ...more }],
    route: [{ destination: { host: service, port: { number: hostAndPort(gate).port } } }],
    timeout: '0s',
  });
  return [
    toGate(gateExpression(paths)),
    toGate(RESOLVED),
    ...routes.flatMap((one) => forwardedEntries(one, toGate)),
    ...[...new Set(routes.map(({ pattern }) => pattern))].map((pattern) => toGate(rawExpression(pattern))),
    {
      route: [{ destination: { host: 'site.internal', port: { number: 80 } } }],
      headers: { request: { remove: IDENTITY_FIELDS.map((name) => name.toLowerCase()) } },
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
