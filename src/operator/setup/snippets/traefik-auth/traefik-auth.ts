import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import type { DecisionAddress } from '../../../../decisions/settings.ts';
import { IDENTITY_FIELDS } from '../../../../http/identity-fields.ts';
import { hostPort } from '../../../host-port.ts';
import { OWN_WHOLE_SPELLINGS, REMOVED_FIELDS, TRACE_SPELLINGS } from '../forged-names.ts';
import { oneExpression } from '../gate-paths.ts';
import type { AskingGateway } from '../gateway.ts';
import { pathExpression, UNUSUAL_DECODED } from '../plugin-paths.ts';
import {
  CORS_RESPONSE_FIELDS,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginUpstream,
  type SnippetFile,
} from '../plugin-plan.ts';
import { filledIn } from '../yaml-template.ts';

const SET = [DECISION_FIELDS.config, DECISION_FIELDS.secret].map((name) => name.toLowerCase());

export const traefikAuth = {
  name: 'traefik-auth',
  title: 'Traefik',
  plugin: 'traefik',
  unixSockets: false,
  files,
} as const satisfies AskingGateway;

/** For the file provider of Traefik 3. Throws if the gate can be asked only over a Unix socket: Traefik cannot. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const { gate, decisions, upstreams, origin } = plan;
  const text = `# ${firstLine(plan)}
# For the file provider of Traefik 3. The site's own router must have a lower priority, this host in its rule, and the
# middleware coursegate-site: without the host, requests to any other host would reach the site past these routers.
# All fields of the request are shown to coursegate: it refuses those that Traefik has no way to remove. So do not set
# authRequestHeaders. Traefik answers 500 if coursegate cannot be asked, and does not limit the size of a body.
${filledIn('traefik-auth/traefik-auth.yaml', {
  routers: routers(plan),
  services: {
    coursegate: service(`http://${gate}`, true),
    ...Object.fromEntries(
      upstreams.map((to) => [
        `coursegate-to-${to.id}`,
        service(`${to.scheme}://${to.authority}`, to.host === origin.host),
      ]),
    ),
  },
  asking: {
    address: `http://${dialled(decisions.address)}${DECISION_PATHS.forwardAuth}`,
    trustForwardHeader: false,
    authResponseHeaders: [...IDENTITY_FIELDS, 'X-Request-Id'],
  },
  site: removed(OWN_WHOLE_SPELLINGS),
  request: {
    ...removed([
      ...['cookie', 'connection', ...TRACE_SPELLINGS],
      // Traefik sets and removes in any order, so no field may be in both.
      ...[...REMOVED_FIELDS.flatMap(ofFamily), ...OWN_WHOLE_SPELLINGS].filter((name) => !SET.includes(name)),
    ]),
    [DECISION_FIELDS.config]: plan.fingerprint,
    [DECISION_FIELDS.secret]: decisions.secret ?? '',
  },
  own: removed(TRACE_SPELLINGS),
  forwarding: Object.fromEntries(
    upstreams.map((upstream) => [`coursegate-to-${upstream.id}`, forwarding(plan, upstream)]),
  ),
})}`;
  return [{ name: 'traefik.yaml', text }];
}

/** The rule with the highest priority applies, so what comes first has the highest. */
function routers(plan: PluginPlan): Readonly<Record<string, object>> {
  const { origin, paths, patterns, routes } = plan;
  const all = patterns.map(pathExpression).join('|');
  const toGate = { service: 'coursegate', middlewares: ['coursegate-own'] };
  const rows = [
    { name: 'coursegate', rule: pathRule(oneExpression(paths).slice(1, -1), 's'), to: toGate },
    { name: 'coursegate-options', rule: `${pathRule(all, 'is')} && Method(\`OPTIONS\`)`, to: toGate },
    ...routes.map(({ path, methods, upstream }, at) => ({
      name: `coursegate-${at}`,
      rule: `${pathRule(path, 'is')}${methods === undefined ? '' : ` && (${methods.map((one) => `Method(\`${one}\`)`).join(' || ')})`}`,
      to:
        upstream === undefined
          ? toGate
          : {
              service: `coursegate-to-${upstream.id}`,
              middlewares: ['coursegate-request', 'coursegate-ask', `coursegate-to-${upstream.id}`],
            },
    })),
    { name: 'coursegate-rest', rule: pathRule(`${all}|${UNUSUAL_DECODED}`, 'is'), to: toGate },
  ];
  const { hostname } = new URL(origin.url);
  const tls = origin.scheme === 'https' ? { tls: {} } : {};
  return Object.fromEntries(
    rows.map(({ name, rule, to }, at) => [
      name,
      { rule: `Host(\`${hostname}\`) && ${rule}`, priority: 100_000 + rows.length - at, ...to, ...tls },
    ]),
  );
}

function pathRule(expression: string, flags: string): string {
  return `PathRegexp(\`(?${flags})^(${expression})$\`)`;
}

function service(url: string, passHostHeader: boolean): object {
  const responseForwarding = { flushInterval: '1ms' };
  return { loadBalancer: { passHostHeader, responseForwarding, servers: [{ url }] } };
}

/** What the upstream and the client get. */
function forwarding({ origin }: PluginPlan, { droppedFields, hiddenFields }: PluginUpstream): object {
  const customRequestHeaders = {
    ...removed(['authorization', 'dpop', DECISION_FIELDS.config, DECISION_FIELDS.secret, ...droppedFields]),
    'X-Forwarded-Host': origin.host,
    'X-Forwarded-Proto': origin.scheme,
    'X-Forwarded-Port': origin.port,
  };
  const customResponseHeaders = {
    ...removed(hiddenFields.filter((name) => !Object.hasOwn(CORS_RESPONSE_FIELDS, name))),
    ...CORS_RESPONSE_FIELDS,
    'Cache-Control': MEMBER_CACHE_CONTROL,
  };
  return { headers: { customRequestHeaders, customResponseHeaders } };
}

function dialled(address: DecisionAddress): string {
  if ('path' in address)
    throw new Error('Traefik cannot ask over a Unix socket: set `listen.decisions.address` to a host and port.');
  return hostPort(address);
}

/** Traefik removes fields by their whole names only. */
function isWhole(name: string): boolean {
  return !name.includes('*');
}

/** Names that begin with a family's prefix, for the families that backends know by certain names. */
function ofFamily(name: string): readonly string[] {
  return isWhole(name) ? [name] : (FAMILIES[name] ?? []);
}

/** Members of the families in `FORGED_FIELDS` that are not our own. Others reach the gate, which refuses the request. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  'x-auth-request-*': ['x-auth-request-user', 'x-auth-request-email', 'x-auth-request-groups'],
  'remote-*': ['remote-user', 'remote-groups', 'remote-email', 'remote-name'],
  'x-remote-*': ['x-remote-user', 'x-remote-group'],
  'x-original-*': ['x-original-url', 'x-original-uri', 'x-original-method', 'x-original-host'],
  // Traefik sets it itself.
  'x-real-*': [],
  'cf-connecting-ip*': ['cf-connecting-ip', 'cf-connecting-ipv6'],
  'true-client-*': ['true-client-ip'],
  'x-ms-client-principal*': ['x-ms-client-principal', 'x-ms-client-principal-id', 'x-ms-client-principal-name'],
  'x-envoy-*': ['x-envoy-original-path', 'x-envoy-external-address', 'x-envoy-internal'],
  'x-middleware-*': ['x-middleware-subrequest', 'x-middleware-rewrite'],
};

function removed(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, '']));
}
