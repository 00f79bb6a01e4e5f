import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import type { DecisionAddress } from '../../../decisions/settings.ts';
import { OWN_IDENTITY } from '../../../http/identity-fields.ts';
import { hostPort, reachableHost } from '../../host-port.ts';
import type { AskingGateway } from './gateway.ts';
import { gatewayView } from './gateway-file.ts';
import { fieldExpression, type PluginPlan, type PluginUpstream, problemBody } from './plugin-plan.ts';
import { escaped } from './segment-expression.ts';

export const haproxy = {
  name: 'haproxy',
  title: 'HAProxy',
  plugin: 'haproxy',
  unixSockets: true,
  templates: ['haproxy/coursegate.cfg', 'haproxy/coursegate.lua'],
  quoted: inQuotes,
  joined: true,
  view: viewOf,
} as const satisfies AskingGateway;

/** What delimits the body of a request, and the host, which the backend sets. */
const FRAMING = ['host', 'content-length', 'transfer-encoding', 'expect'];

/** An answer of HAProxy's own has an id, as those of coursegate have. */
const OWN_ID = '%[var(txn.coursegate_own_id)]';
const PROBLEM = `content-type application/problem+json hdr Cache-Control no-store hdr X-Request-Id ${OWN_ID} hdr Access-Control-Allow-Origin *`;

/** For HAProxy: a whole configuration, and the Lua script that asks. */
function viewOf(plan: PluginPlan) {
  const view = gatewayView(plan);
  return {
    ...view,
    /** A condition: whether a request is for this school. */
    at: view.many ? ` coursegate_at${plan.of}` : '',
    address: addressOf(plan.decisions.address),
    question: DECISION_PATHS.haproxy,
    tls: plan.origin.scheme === 'https',
    forged: fieldExpression(OWN_IDENTITY),
    identity: view.identity.map((field) => ({ ...field, variable: field.lower.replaceAll('-', '_') })),
    problem: PROBLEM,
    tooLarge: problemBody('payload_too_large', OWN_ID),
    unavailable: problemBody('store_unavailable', OWN_ID),
    upstreams: view.upstreams.map((upstream) => ({
      ...upstream,
      fields: expressionOf([...FRAMING, ...upstream.requestFields]),
      hidden: expressionOf(upstream.hiddenFields),
      timeoutMs: Math.max(1, Math.round(upstream.timeout * 1000)),
      server: serverOf(upstream),
    })),
  };
}

/** Of whole names. */
function expressionOf(names: readonly string[]): string {
  return names.map(escaped).join('|');
}

function serverOf({ scheme, hostname, port, servername }: PluginUpstream): string {
  const name = servername === '' ? '' : ` sni str(${servername}) verifyhost ${servername}`;
  const tls = scheme === 'https' ? ` ssl verify required ca-file @system-ca${name}` : '';
  return `${hostPort({ host: hostname, port })}${tls}`;
}

function addressOf(address: DecisionAddress): string {
  return 'path' in address ? `'${inLua(address.path)}'` : `'${reachableHost(address.host)}', ${address.port}`;
}

function inLua(text: string): string {
  return text.replace(/['\\]/g, '\\$&');
}

/** In single quotes, in which HAProxy interprets nothing. */
function inQuotes(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
