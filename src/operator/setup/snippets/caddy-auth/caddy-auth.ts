import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../../http/identity-fields.ts';
import { hostPort } from '../../../host-port.ts';
import { filledFile } from '../../text-template.ts';
import { OWN_SPELLINGS, REMOVED_FIELDS } from '../forged-names.ts';
import { oneExpression } from '../gate-paths.ts';
import type { AskingGateway } from '../gateway.ts';
import { pathExpression, UNUSUAL } from '../plugin-paths.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginRoute,
  type PluginUpstream,
  problemBody,
  type SnippetFile,
} from '../plugin-plan.ts';

export const caddyAuth = {
  name: 'caddy-auth',
  title: 'Caddy',
  plugin: 'caddy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** For a site block. Directives that Caddy 2.6 has, too. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const { gate, paths, patterns, routes, upstreams, largestBody, decisions, fingerprint } = plan;
  const { address, secret } = decisions;
  const text = filledFile('snippets/caddy-auth/Caddyfile', {
    firstLine: firstLine(plan),
    forged: OWN_SPELLINGS.map((name) => `request_header -${name}`),
    own: regexp(oneExpression(paths).slice(1, -1), 's'),
    gate,
    routes: regexp(patterns.map(pathExpression).join('|'), 'is'),
    matchers: routes.map(matcher),
    destinations: routes
      .map(({ upstream }, at) => `vars @coursegate_${at} coursegate_to ${upstream?.id ?? 'gate'}`)
      .toReversed(),
    largestBody: largestBody === undefined ? [] : ['request_body {', `\tmax_size ${largestBody}`, '}'],
    removed: REMOVED.map((name) => `request_header -${name}`),
    decisions: 'path' in address ? `unix/${address.path}` : hostPort(address),
    askedAt: DECISION_PATHS.forwardAuth,
    credentials: [
      `header_up ${DECISION_FIELDS.config} ${fingerprint}`,
      ...(secret === undefined ? [] : [`header_up ${DECISION_FIELDS.secret} ${secret}`]),
    ],
    identity: [...IDENTITY_FIELDS, 'X-Request-Id'].join(' '),
    connectLimit: DECISION_LIMITS.connect,
    answerLimit: DECISION_LIMITS.answer,
    private: MEMBER_CACHE_CONTROL,
    forwarding: upstreams.map((upstream) => forwarding(plan, upstream)),
    unusual: regexp(`(?:${UNUSUAL}).*`, 'is'),
    cors: Object.entries(CORS_RESPONSE_FIELDS).map(([name, value]) => `header ${name} "${value}"`),
    unavailable: problemBody('store_unavailable', ''),
  });
  return [{ name: 'Caddyfile', text }];
}

/** Names with characters that only some backends tell from a hyphen. */
const ODD_NAMES = [...'_.!$%&+^|~'].map((character) => `*${character}*`);

const REMOVED = [
  ...['connection', 'cookie', 'proxy', 'traceparent', 'tracestate', 'x-request-id'],
  ...ODD_NAMES,
  ...REMOVED_FIELDS,
];

function matcher({ path, methods }: PluginRoute, at: number): string {
  const method = methods === undefined ? [] : [`\tmethod ${methods.join(' ')}`];
  return [`@coursegate_${at} {`, ...method, `\tpath_regexp ${regexp(path, 'is')}`, '}'].join('\n');
}

function forwarding({ origin }: PluginPlan, upstream: PluginUpstream): string {
  const { id, scheme, authority, host, timeout, droppedFields, hiddenFields } = upstream;
  const set = { ...CORS_RESPONSE_FIELDS, 'X-Request-Id': '{http.request.header.X-Request-Id}' };
  const hidden = hiddenFields.filter((name) => !Object.keys(set).some((own) => own.toLowerCase() === name));
  return filledFile('snippets/caddy-auth/upstream.Caddyfile', {
    ...{ id, scheme, authority, host, timeout },
    ...{ originHost: origin.host, originScheme: origin.scheme, originPort: origin.port },
    dropped: ['authorization', 'dpop', 'proxy-*', ...droppedFields].map((name) => `header_up -${name}`),
    hidden: hidden.map((name) => `header_down -${name}`),
    set: Object.entries(set).map(([name, value]) => `header_down ${name} "${value}"`),
  });
}

/** Anchored, with flags of RE2. Backticks quote in a Caddyfile; no path of a route has one. */
function regexp(expression: string, flags: string): string {
  return `\`(?${flags})^(${expression})$\``;
}
