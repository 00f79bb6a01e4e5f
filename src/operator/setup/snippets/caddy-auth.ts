import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import { OWN_IDENTITY } from '../../../http/identity-fields.ts';
import { FORGED_FIELDS } from './forged-names.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayView } from './gateway-file.ts';
import { type PluginPlan, problemBody } from './plugin-plan.ts';

export const caddyAuth = {
  name: 'caddy-auth',
  title: 'Caddy',
  plugin: 'caddy',
  unixSockets: true,
  templates: ['caddy/Caddyfile', 'caddy/coursegate-fields.caddy'],
  view: viewOf,
} as const satisfies AskingGateway;

/** What a name may have besides letters, digits and hyphens (RFC 9110 section 5.6.2). */
const ODD_SIGNS = [..."_.!#$%&'*+^`|~"].map((sign) => `*${sign}*`);

/** Names with an asterisk, for several of the response fields that clients do not get. */
const FAMILIES = ['access-control-*', '*-cache-control', 'ratelimit*', ...OWN_IDENTITY];

/** For a site block. Directives that Caddy 2.6 has, too. */
function viewOf(plan: PluginPlan) {
  return {
    ...gatewayView(plan),
    forged: [...OWN_IDENTITY, ...ODD_SIGNS],
    askedAt: DECISION_PATHS.forwardAuth,
    upstreams: plan.upstreams.map((upstream) => ({
      ...upstream,
      dropped: upstream.droppedFields,
      hidden: [...FAMILIES, ...upstream.hiddenFields.filter((name) => !FAMILIES.some((family) => isOf(family, name)))],
    })),
    unavailable: problemBody('store_unavailable', ''),
    removed: [
      ...['connection', 'cookie', 'proxy', 'proxy-*', 'traceparent', 'tracestate', 'x-request-id', 'ratelimit*'],
      ...FORGED_FIELDS,
    ],
  };
}

function isOf(family: string, name: string): boolean {
  const [start = '', end] = family.split('*');
  return end === undefined ? name === family : name.startsWith(start) && name.endsWith(end);
}
