import type { DecisionAddress } from '../../../../decisions/settings.ts';
import { hostAndPort } from '../../../host-port.ts';
import { DECISION_LIMITS, firstLine, type PluginPlan, type PluginUpstream, type SnippetFile } from '../plugin-plan.ts';
import { filledIn, part, type YamlPart } from '../yaml-template.ts';
import { forgedRemoved, localReplies } from './connection-manager.ts';
import { envoyRoutes, GATE, SITE, upstreamCluster } from './routes.ts';

/**
 * Envoy's whole configuration, for `envoy -c`.
 * @param asking the configuration of the filter that asks
 */
export function envoyBootstrap(plan: PluginPlan, asking: YamlPart): readonly SnippetFile[] {
  const { origin, gate, decisions, upstreams } = plan;
  const text = `# ${firstLine(plan)}
# Change the address of the listener and of the cluster ${SITE}, your existing site. Then: envoy --mode validate -c FILE
${origin.scheme === 'https' ? '# The listener needs your certificate: see transport_socket below.\n' : ''}${filledIn(
  'envoy/envoy.yaml',
  {
    port: Number(origin.port),
    removed: forgedRemoved(),
    replies: localReplies(),
    asking,
    routes: envoyRoutes(plan),
    tls: origin.scheme === 'https' ? DOWNSTREAM_TLS : undefined,
    clusters: [
      cluster(GATE, hostAndPort(gate), { keepAlive: true }),
      cluster('coursegate_decisions', decisions.address, { keepAlive: true }),
      ...upstreams.map(upstream),
      cluster(SITE, { host: 'site.internal', port: 80 }, {}),
    ],
  },
)}`;
  return [{ name: 'envoy.yaml', text }];
}

const DOWNSTREAM_TLS = tls('Downstream', {
  tls_certificates: [
    { certificate_chain: { filename: '/etc/envoy/site.crt' }, private_key: { filename: '/etc/envoy/site.key' } },
  ],
});

function tls(side: 'Downstream' | 'Upstream', common_tls_context: object, more: object = {}): object {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.${side}TlsContext`,
      ...more,
      common_tls_context,
    },
  };
}

interface ClusterSettings {
  /** Whether the other end closes idle connections after 75 seconds, as the gate does. */
  readonly keepAlive?: boolean;
  readonly tls?: object | undefined;
}

function cluster(name: string, address: DecisionAddress, settings: ClusterSettings): YamlPart {
  const { keepAlive = false } = settings;
  return part('envoy/cluster.yaml', {
    name,
    type: 'path' in address ? 'STATIC' : 'STRICT_DNS',
    connect: `${DECISION_LIMITS.connect}s`,
    protocol: {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      ...(keepAlive ? { common_http_protocol_options: { idle_timeout: '60s' } } : {}),
      explicit_http_config: { http_protocol_options: {} },
    },
    endpoint:
      'path' in address
        ? { pipe: { path: address.path } }
        : { socket_address: { address: address.host, port_value: address.port } },
    tls: settings.tls,
  });
}

function upstream(given: PluginUpstream): YamlPart {
  const { scheme, hostname, port, servername } = given;
  const exact = servername === '' ? hostname : servername;
  const validation_context = {
    trusted_ca: { filename: '/etc/ssl/certs/ca-certificates.crt' },
    match_typed_subject_alt_names: [{ san_type: servername === '' ? 'IP_ADDRESS' : 'DNS', matcher: { exact } }],
  };
  const named = servername === '' ? {} : { sni: servername };
  return cluster(
    upstreamCluster(given),
    { host: hostname, port },
    { tls: scheme === 'https' ? tls('Upstream', { validation_context }, named) : undefined },
  );
}
