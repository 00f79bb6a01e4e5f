import { segmentsOf } from '../../../config/route-order.ts';
import { hostAndPort } from '../../host-port.ts';
import { envoyView } from './envoy.ts';
import type { AskingGateway } from './gateway.ts';
import { inSingleQuotes } from './gateway-file.ts';
import { IDENTITY_NAMES, type PluginPlan } from './plugin-plan.ts';
import { escaped, segmentExpression } from './segment-expression.ts';
import { inAscii } from './targets.ts';

export const istio = {
  name: 'istio',
  title: 'Istio',
  unixSockets: false,
  templates: ['istio/istio-mesh.yaml', 'istio/istio.yaml'],
  quoted: inSingleQuotes,
  view: istioView,
  notes: ({ of }) =>
    of === ''
      ? []
      : [
          'Istio asks one provider for each ingress gateway, so each school needs its own ingress gateway: see `selector`.',
        ],
} as const satisfies AskingGateway;

/** Throws Error if Istio cannot reach the gate by a name. */
function istioView(plan: PluginPlan) {
  const { origin, gate, decisions, site, protectedPaths } = plan;
  const { address } = decisions;
  const service = hostAndPort(gate);
  if (!service.host.includes('.') || /^[\d.:]+$/.test(service.host))
    throw new Error('Istio needs --gate with the Service of coursegate: coursegate.default.svc.cluster.local:80.');
  const view = envoyView(plan, ', ');
  return {
    ...view,
    dashed: plan.of.replace('_', '-'),
    hostname: new URL(origin.url).hostname,
    service: service.host,
    servicePort: service.port,
    port: 'port' in address && address.port,
    identityNames: IDENTITY_NAMES.join(', '),
    asked: protectedPaths.flatMap(({ pattern }) => askedPaths(pattern)),
    // Istio limits the length of an expression.
    eachOwn: plan.own,
    upstreams: view.upstreams.map((one) => ({ ...one, asked: one.paths.map(({ pattern }) => askedTargets(pattern)) })),
    siteAt: site ?? { hostname: 'site.internal', port: 80 },
  };
}

/** The paths of a route, as AuthorizationPolicy writes them. */
function askedPaths(pattern: string): readonly string[] {
  const written = inAscii(withoutRest(pattern)).replaceAll('*', '{*}');
  const rest = pattern.endsWith('/**') ? [`${written}/${written.includes('*') ? '{**}' : '*'}`] : [];
  return written === '' ? rest : [written, ...rest];
}

/**
 * An expression for the targets that the same paths match in AuthorizationPolicy, which looks at letter case. Its `{*}`
 * takes only these characters.
 */
function askedTargets(pattern: string): string {
  const one = "[A-Za-z0-9._~%!$&'()+,=:@-]";
  return segmentExpression(pattern, {
    rest: withoutRest(pattern).includes('*') ? `(?:/(?:${one}|/)*)?` : '(?:/.*)?',
    one: `/${one}+`,
    fixed: (segment) => escaped(inAscii(segment)),
  });
}

function withoutRest(pattern: string): string {
  return `/${segmentsOf(pattern).join('/')}`.replace(/\/\*\*$/, '');
}
