import type { DecisionAddress } from '../../../config/decisions.ts';
import { IDENTITY_FIELDS, OWN_IDENTITY } from '../../../http/identity-fields.ts';
import { envoyRoutes, GATE, SITE, upstreamCluster } from './envoy-routes.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  fieldExpression,
  firstLine,
  type PluginOptions,
  type PluginUpstream,
  problemBody,
} from './plugin-options.ts';

/** How Envoy asks, over HTTP or gRPC. */
export interface Asking {
  readonly address: DecisionAddress;
  /** Lines of the filter's configuration that belong to it. */
  readonly filter: string;
  readonly http2: boolean;
}

const FORGED = `(?i)${fieldExpression([...OWN_IDENTITY, 'x-envoy-*'])}`;

export const DECISIONS = 'coursegate_decisions';

/** The fields that a decision sets for the upstream. */
export const SET_BY_DECISIONS: readonly string[] = [
  ...IDENTITY_FIELDS.map((name) => name.toLowerCase()),
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'forwarded'],
  ...['x-request-id', 'traceparent', 'tracestate'],
];

/** What Envoy sends with each question. */
export function credentials({ fingerprint, decisions: { secret } }: PluginOptions): string {
  const fields = [{ key: 'x-coursegate-config', value: fingerprint }];
  if (secret !== undefined) fields.push({ key: 'x-coursegate-secret', value: secret });
  return JSON.stringify(fields);
}

export function exactly(names: readonly string[]): string {
  return JSON.stringify({ patterns: names.map((exact) => ({ exact })) });
}

/** Envoy's whole configuration, for `envoy -c`. */
export function envoyBootstrap(options: PluginOptions, asking: Asking): string {
  const { origin } = options;
  return `# ${firstLine(options)}
# Change the address of the listener and of the cluster ${SITE}, your existing site. Then: envoy --mode validate -c FILE
${origin.scheme === 'https' ? '# The listener needs your certificate: see transport_socket below.\n' : ''}# Envoy refuses long expressions, unless it is told otherwise.
layered_runtime:
  layers:
    - name: coursegate
      static_layer: { re2.max_program_size.error_level: 100000, re2.max_program_size.warn_level: 100000 }
static_resources:
  listeners:
    - name: public
      address: { socket_address: { address: 0.0.0.0, port_value: ${origin.port} } }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: public
                # coursegate decides about the path that the backend gets, so nothing may change it.
                normalize_path: false
                merge_slashes: false
                path_with_escaped_slashes_action: KEEP_UNCHANGED
                # Adds the address that connected to X-Forwarded-For.
                use_remote_address: true
                server_header_transformation: PASS_THROUGH
                stream_idle_timeout: 3600s
                request_headers_timeout: 20s
                common_http_protocol_options: { headers_with_underscores_action: DROP_HEADER, idle_timeout: 75s }
                # Clients cannot send these, in any spelling, to any part of the site.
                early_header_mutation_extensions: ${JSON.stringify(FORGED_REMOVED)}
                # If coursegate is down or slow, clients get the same 503 as from coursegate itself.
                local_reply_config: ${JSON.stringify(LOCAL_REPLIES)}
                http_filters:
                  - name: envoy.filters.http.ext_authz
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
                      transport_api_version: V3
                      failure_mode_allow: false
                      # Becomes the 503 above. coursegate never answers with this status.
                      status_on_error: { code: LoopDetected }
                      clear_route_cache: false
${indented(asking.filter, 22)}
                  # A 401 of the backend becomes 403: the token was valid, so the app must not fetch another.
                  - name: envoy.filters.http.lua
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
                      default_source_code:
                        inline_string: |
                          function envoy_on_request(handle)
                            handle:streamInfo():dynamicMetadata():set("coursegate", "admitted", true)
                          end
                          function envoy_on_response(handle)
                            local known = handle:streamInfo():dynamicMetadata():get("coursegate")
                            if known and known.admitted and handle:headers():get(":status") == "401" then
                              handle:headers():replace(":status", "403")
                            end
                          end
                  - name: envoy.filters.http.router
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
                      suppress_envoy_headers: true
                route_config:
                  virtual_hosts:
                    - name: public
                      domains: ["*"]
                      # Asked about, unless ExtAuthzPerRoute says otherwise. The first match counts.
                      routes:
${envoyRoutes(options)
  .map((one) => `                        - ${one}`)
  .join('\n')}
${origin.scheme === 'https' ? TLS : ''}  clusters:
${[
  cluster(GATE, hostAndPort(options.gate), { keepAlive: true }),
  cluster(DECISIONS, asking.address, { keepAlive: !asking.http2, http2: asking.http2 }),
  ...options.upstreams.map(upstream),
  cluster(SITE, { host: 'site.internal', port: 80 }, {}),
].join('\n')}
`;
}

/** Removes names of this gate's identity, and of what Envoy itself takes orders from. */
export const FORGED_REMOVED = [
  {
    name: 'envoy.http.early_header_mutation.header_mutation',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation',
      mutations: [{ remove_on_match: { key_matcher: { safe_regex: { regex: FORGED } } } }],
    },
  },
];

/** The status with which Envoy reports that it could not ask. Nothing else gives it, so that the gate's own 503 stays. */
const NOT_ASKED = 508;

/** Clients get the gate's 503 if Envoy could not ask, or could not connect. */
export const LOCAL_REPLIES = {
  mappers: [
    {
      filter: {
        or_filter: {
          filters: [
            {
              status_code_filter: {
                comparison: { op: 'EQ', value: { default_value: NOT_ASKED, runtime_key: 'coursegate' } },
              },
            },
            { response_flag_filter: { flags: ['UF', 'UH', 'UO'] } },
          ],
        },
      },
      status_code: 503,
      headers_to_add: Object.entries({
        'retry-after': '5',
        'cache-control': 'no-store',
        'x-request-id': '%REQ(X-REQUEST-ID)%',
        ...CORS_RESPONSE_FIELDS,
      }).map(([key, value]) => ({ header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' })),
      body_format_override: {
        content_type: 'application/problem+json',
        text_format_source: { inline_string: problemBody('store_unavailable', '%REQ(X-REQUEST-ID)%') },
      },
    },
  ],
};

const TLS = `          transport_socket:
            name: envoy.transport_sockets.tls
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
              common_tls_context:
                tls_certificates:
                  - certificate_chain: { filename: /etc/envoy/site.crt }
                    private_key: { filename: /etc/envoy/site.key }
`;

function indented(text: string, by: number): string {
  return text
    .split('\n')
    .map((line) => ' '.repeat(by) + line)
    .join('\n');
}

interface ClusterSettings {
  /** Whether the other end closes idle connections after 75 seconds, as the gate does. */
  readonly keepAlive?: boolean;
  readonly http2?: boolean;
  /** Lines for TLS. */
  readonly transport?: string;
}

function cluster(
  name: string,
  address: DecisionAddress,
  { keepAlive = false, http2 = false, transport = '' }: ClusterSettings,
): string {
  const endpoint =
    'path' in address
      ? { pipe: { path: address.path } }
      : { socket_address: { address: address.host, port_value: address.port } };
  const protocol = {
    '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    ...(keepAlive ? { common_http_protocol_options: { idle_timeout: '60s' } } : {}),
    explicit_http_config: http2 ? { http2_protocol_options: {} } : { http_protocol_options: {} },
  };
  return `    - name: ${name}
      type: ${'path' in address ? 'STATIC' : 'STRICT_DNS'}
      connect_timeout: ${DECISION_LIMITS.connect}s
      circuit_breakers: { thresholds: [{ max_connections: 65536, max_pending_requests: 65536, max_requests: 65536 }] }
      typed_extension_protocol_options: { envoy.extensions.upstreams.http.v3.HttpProtocolOptions: ${JSON.stringify(protocol)} }
      load_assignment:
        cluster_name: ${name}
        endpoints: [{ lb_endpoints: [{ endpoint: { address: ${JSON.stringify(endpoint)} } }] }]
${transport}`.trimEnd();
}

function upstream(given: PluginUpstream): string {
  const { scheme, hostname, port, servername } = given;
  const name = servername === '' ? { san_type: 'IP_ADDRESS', matcher: { exact: hostname } } : undefined;
  const san = name ?? { san_type: 'DNS', matcher: { exact: servername } };
  const transport = `      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
${servername === '' ? '' : `          sni: ${JSON.stringify(servername)}\n`}          common_tls_context:
            validation_context:
              trusted_ca: { filename: /etc/ssl/certs/ca-certificates.crt }
              match_typed_subject_alt_names: [${JSON.stringify(san)}]`;
  return cluster(upstreamCluster(given), { host: hostname, port }, scheme === 'https' ? { transport } : {});
}

/** @param text host:port, with brackets around an IPv6 address */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const [, host = '', port = ''] = /^\[?(.+?)\]?:(\d+)$/.exec(text) ?? [];
  return { host, port: Number(port) };
}
