import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import type { DecisionAddress } from '../../../decisions/settings.ts';
import { OWN_IDENTITY } from '../../../http/identity-fields.ts';
import { hostAndPort, reachableHost } from '../../host-port.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayView, inLines, inSingleQuotes } from './gateway-file.ts';
import { fieldExpression, IDENTITY_NAMES, type PluginPlan, type PluginUpstream, problemBody } from './plugin-plan.ts';

export const envoy = {
  name: 'envoy',
  title: 'Envoy',
  plugin: 'envoy',
  unixSockets: true,
  templates: ['envoy/envoy.yaml'],
  quoted: inSingleQuotes,
  joined: true,
  view: bootstrap,
} as const satisfies AskingGateway;

/** The fields that a decision sets for the backend. */
const SET = [
  ...IDENTITY_NAMES,
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'forwarded'],
  ...['x-request-id', 'traceparent', 'tracestate'],
];

/** Fields of a decision for every client: where the gate has no limits or CORS, they are missing. */
const ALWAYS = [
  ...['x-request-id', 'ratelimit', 'ratelimit-policy', 'access-control-allow-origin', 'access-control-expose-headers'],
];

/** Fields that a refusal may have besides. */
const REFUSAL = [
  ...['www-authenticate', 'retry-after', 'content-type', 'content-language', 'cache-control', 'allow'],
  ...['dpop-nonce', 'vary'],
];

/** What Envoy and Istio are filled in with. `between` stands between the names of fields that a decision has. */
export function envoyView(plan: PluginPlan, between: string) {
  const view = gatewayView(plan);
  const id = '%REQ(X-REQUEST-ID)%';
  return {
    ...view,
    path: DECISION_PATHS.envoy,
    /** Also what Envoy itself takes orders from. */
    forged: `(?i)${fieldExpression([...OWN_IDENTITY, 'x-envoy-*'])}`,
    upstreams: view.upstreams.map((upstream) => ({ ...upstream, hidden: inLines(upstream.hiddenFields, 100) })),
    set: SET.join(between),
    always: ALWAYS.join(between),
    refusal: [...REFUSAL, ...ALWAYS].join(between),
    unavailable: {
      body: problemBody('store_unavailable', id),
      fields: [
        { name: 'retry-after', value: '5' },
        { name: 'cache-control', value: 'no-store' },
        { name: 'x-request-id', value: id },
        ...view.cors,
      ],
    },
  };
}

function bootstrap(plan: PluginPlan) {
  const { of, origin, gate, upstreams, site, largestBody } = plan;
  const { address } = plan.decisions;
  const view = envoyView(plan, '|');
  return {
    ...view,
    domain: view.many ? origin.host : '*',
    https: origin.scheme === 'https',
    protected: view.upstreams.map(({ targets }) => targets).join('|'),
    tooLarge: largestBody !== undefined && {
      from: largestBody + 1,
      to: Number.MAX_SAFE_INTEGER,
      body: problemBody('payload_too_large', ''),
      fields: [{ name: 'content-type', value: 'application/problem+json' }, ...view.cors],
    },
    gateAddress: addressOf(hostAndPort(gate)),
    decisions: { type: 'path' in address ? 'STATIC' : 'STRICT_DNS', address: addressOf(address) },
    backends: [
      ...upstreams.map((one) => backend(`coursegate_upstream_${one.id}${of}`, one)),
      site === undefined
        ? { cluster: `coursegate_site${of}`, address: addressOf({ host: 'site.internal', port: 80 }), tls: false }
        : backend(`coursegate_site${of}`, site),
    ],
  };
}

function backend(cluster: string, { scheme, hostname, port, servername }: PluginUpstream) {
  const expected = servername === '' ? { type: 'IP_ADDRESS', name: hostname } : { type: 'DNS', name: servername };
  return {
    cluster,
    address: addressOf({ host: hostname, port }),
    tls: scheme === 'https' && { servername, ...expected },
  };
}

function addressOf(address: DecisionAddress): string {
  return 'path' in address
    ? `{ pipe: { path: '${inSingleQuotes(address.path)}' } }`
    : `{ socket_address: { address: '${reachableHost(address.host)}', port_value: ${address.port} } }`;
}
