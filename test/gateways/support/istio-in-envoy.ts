import { parse, parseAllDocuments } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
type Any = any;

interface Place {
  readonly host: string;
  readonly port: number;
}

export interface IstioInEnvoy {
  /** Where the ingress gateway listens. */
  readonly port: number;
  /** The place of the destination `site.internal`. All other names are on this machine. */
  readonly site: Place;
}

/**
 * Envoy's configuration for the printed objects, made as istiod does it for an ingress gateway, with the default
 * `pathNormalization`: the VirtualService becomes routes; the AuthorizationPolicy becomes shadow rules, whose result lets
 * ext_authz ask; and the EnvoyFilter is merged into the connection manager. What istiod does besides is not tried here.
 */
export function istioInEnvoy(mesh: string, objects: string, { port, site }: IstioInEnvoy): object {
  const documents: Any[] = parseAllDocuments(objects).map((one) => one.toJS());
  const of = (kind: string) => documents.find((one) => one.kind === kind).spec;
  const [{ envoyExtAuthzHttp }] = parse(mesh).meshConfig.extensionProviders;
  const [patch] = of('EnvoyFilter').configPatches;
  const virtual = of('VirtualService');
  const places = new Map<string, Place>();
  const cluster = (host: string, at: number): string => {
    const name = `${host}:${at}`;
    places.set(name, host === 'site.internal' ? site : { host: '127.0.0.1', port: at });
    return name;
  };
  const manager = {
    stat_prefix: 'ingress',
    use_remote_address: true,
    normalize_path: true,
    merge_slashes: false,
    delayed_close_timeout: '0.02s',
    ...patch.patch.value.typed_config,
    http_filters: [
      filter('rbac', 'rbac.v3.RBAC', {
        shadow_rules: shadowRules(of('AuthorizationPolicy').rules),
        shadow_rules_stat_prefix: 'istio_ext_authz_',
      }),
      filter('ext_authz', 'ext_authz.v3.ExtAuthz', provider(envoyExtAuthzHttp, cluster)),
      filter('router', 'router.v3.Router', {}),
    ],
    route_config: {
      virtual_hosts: virtual.hosts.map((host: string) => ({
        name: host,
        domains: [host, `${host}:*`],
        routes: virtual.http.flatMap((entry: Any) => routesOf(entry, cluster)),
      })),
    },
  };
  return {
    // As in the bootstrap of Istio.
    layered_runtime: { layers: [{ name: 'istio', static_layer: { 're2.max_program_size.error_level': 32_768 } }] },
    static_resources: {
      listeners: [
        {
          name: 'ingress',
          address: address({ host: '127.0.0.1', port }),
          filter_chains: [
            { filters: [{ name: 'envoy.filters.network.http_connection_manager', typed_config: manager }] },
          ],
        },
      ],
      clusters: [...places].map(([name, place]) => ({
        name,
        connect_timeout: '1s',
        load_assignment: {
          cluster_name: name,
          endpoints: [{ lb_endpoints: [{ endpoint: { address: address(place) } }] }],
        },
      })),
    },
  };
}

function address({ host, port }: Place): object {
  return { socket_address: { address: host, port_value: port } };
}

function filter(name: string, type: string, config: object): object {
  const typed_config = { '@type': `type.googleapis.com/envoy.extensions.filters.http.${type}`, ...config };
  return { name: `envoy.filters.http.${name}`, typed_config };
}

/** Of an AuthorizationPolicy with `action: CUSTOM`. */
function shadowRules(rules: readonly Any[]): object {
  const permissions = rules.flatMap(({ to }) =>
    to.map(({ operation: { hosts, paths, notMethods } }: Any) => ({
      and_rules: {
        rules: [
          { or_rules: { rules: hosts.map((host: string) => ({ header: { name: ':authority', ...matches(host) } })) } },
          { or_rules: { rules: paths.map(pathRule) } },
          { not_rule: { or_rules: { rules: notMethods.map((exact: string) => methodRule(exact)) } } },
        ],
      },
    })),
  );
  return { action: 'DENY', policies: { 'istio-ext-authz-coursegate': { permissions, principals: [{ any: true }] } } };
}

const matches = (host: string) => ({ string_match: { ...stringMatch(host), ignore_case: true } });
const methodRule = (exact: string) => ({ header: { name: ':method', string_match: { exact } } });

function pathRule(path: string): object {
  if (!path.includes('{')) return { url_path: { path: stringMatch(path) } };
  const typed_config = {
    '@type': 'type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig',
    path_template: path.replaceAll('{**}', '**').replaceAll('{*}', '*'),
  };
  return { uri_template: { name: 'uri-template', typed_config } };
}

/** A text, or the beginning or the end of one. */
function stringMatch(text: string): Any {
  if (text.endsWith('*')) return { prefix: text.slice(0, -1) };
  return text.startsWith('*') ? { suffix: text.slice(1) } : { exact: text };
}

const patterns = (names: readonly string[]) => ({
  patterns: names.map((name) => ({ ...stringMatch(name), ignore_case: true })),
});

function provider(given: Any, cluster: (host: string, port: number) => string): object {
  return {
    transport_api_version: 'V3',
    failure_mode_allow: given.failOpen,
    status_on_error: { code: Number(given.statusOnError) },
    filter_enabled_metadata: {
      filter: 'envoy.filters.http.rbac',
      path: [{ key: 'istio_ext_authz_shadow_effective_policy_id' }],
      value: { string_match: { prefix: 'istio-ext-authz' } },
    },
    allowed_headers: patterns(given.includeRequestHeadersInCheck),
    http_service: {
      server_uri: {
        uri: `http://${given.service}`,
        cluster: cluster(given.service, given.port),
        timeout: given.timeout,
      },
      path_prefix: given.pathPrefix,
      authorization_request: {
        headers_to_add: Object.entries(given.includeAdditionalHeadersInCheck).map(([key, value]) => ({ key, value })),
      },
      authorization_response: {
        allowed_upstream_headers: patterns(given.headersToUpstreamOnAllow),
        allowed_client_headers: patterns(given.headersToDownstreamOnDeny),
        allowed_client_headers_on_success: patterns(given.headersToDownstreamOnAllow),
      },
    },
  };
}

/** Of an entry of a VirtualService. */
function routesOf(entry: Any, cluster: (host: string, port: number) => string): readonly object[] {
  const { match = [{}], route, rewrite, headers = {} } = entry;
  const [{ destination }] = route;
  const { request = {}, response = {} } = headers;
  const added = (fields: object = {}, append_action: string) =>
    Object.entries(fields).map(([key, value]) => ({ header: { key, value }, append_action }));
  return match.map(({ uri, method, headers: fields = {} }: Any) => ({
    match: {
      ...(uri === undefined ? { prefix: '/' } : { safe_regex: { regex: uri.regex } }),
      headers: [
        ...(method === undefined ? [] : [{ name: ':method', string_match: method }]),
        ...Object.entries(fields).map(([name, { regex }]: Any) => ({ name, string_match: { safe_regex: { regex } } })),
      ],
    },
    route: {
      cluster: cluster(destination.host, destination.port.number),
      timeout: '0s',
      ...(rewrite === undefined ? {} : { host_rewrite_literal: rewrite.authority }),
    },
    request_headers_to_remove: request.remove ?? [],
    response_headers_to_remove: response.remove ?? [],
    response_headers_to_add: [
      ...added(response.set, 'OVERWRITE_IF_EXISTS_OR_ADD'),
      ...added(response.add, 'APPEND_IF_EXISTS_OR_ADD'),
    ],
  }));
}
