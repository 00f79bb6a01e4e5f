import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import { OWN_IDENTITY } from '../../../http/identity-fields.ts';
import { hostPort } from '../../host-port.ts';
import { FORGED_FIELDS } from './forged-names.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayFile, gatewayView } from './gateway-file.ts';
import { fileNamed, type PluginPlan, problemBody, type SnippetFile } from './plugin-plan.ts';

export const caddyAuth = {
  name: 'caddy-auth',
  title: 'Caddy',
  plugin: 'caddy',
  unixSockets: true,
  files: (...plans) => plans.flatMap(files),
} as const satisfies AskingGateway;

/** What a name may have besides letters, digits and hyphens (RFC 9110 section 5.6.2). */
const ODD_SIGNS = [..."_.!#$%&'*+^`|~"].map((sign) => `*${sign}*`);

/** Names with an asterisk, for several of the response fields that clients do not get. */
const FAMILIES = ['access-control-*', '*-cache-control', 'ratelimit*', ...OWN_IDENTITY];

/** For a site block. Directives that Caddy 2.6 has, too. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const { address } = plan.decisions;
  const view = {
    ...gatewayView(plan),
    forged: [...OWN_IDENTITY, ...ODD_SIGNS],
    decisions: 'path' in address ? `unix/${address.path}` : hostPort(address),
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
  return ['Caddyfile', 'coursegate-fields.caddy'].map((name) => ({
    name: fileNamed(name, plan.of),
    text: gatewayFile(`caddy/${name}`, view),
  }));
}

function isOf(family: string, name: string): boolean {
  const [start = '', end] = family.split('*');
  return end === undefined ? name === family : name.startsWith(start) && name.endsWith(end);
}
