import type { DecisionAddress } from '../../../config/decisions.ts';
import { DECISION_FIELDS, DECISION_PATHS } from '../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { OWN_WHOLE_SPELLINGS, REMOVED_FIELDS, TRACE_SPELLINGS } from './forged-names.ts';
import { oneExpression } from './gate-paths.ts';
import {
  CORS_RESPONSE_FIELDS,
  firstLine,
  hostPort,
  MEMBER_CACHE_CONTROL,
  type PluginOptions,
  type PluginUpstream,
  type SnippetFile,
} from './plugin-options.ts';
import { pathExpression, UNUSUAL_DECODED } from './plugin-paths.ts';

const SET = [DECISION_FIELDS.config, DECISION_FIELDS.secret].map((name) => name.toLowerCase());

/** For the file provider of Traefik 3. Throws if the gate can be asked only over a Unix socket: Traefik cannot. */
export function traefikAuth(options: PluginOptions): readonly SnippetFile[] {
  const { gate, decisions, upstreams } = options;
  const text = `# ${firstLine(options)}
# For the file provider of Traefik 3. The site's own router must have a lower priority, this host in its rule, and the
# middleware coursegate-site: without the host, requests to any other host would reach the site past these routers.
# All fields of the request are shown to coursegate: it refuses those that Traefik has no way to remove. So do not set
# authRequestHeaders. Traefik answers 500 if coursegate cannot be asked, and does not limit the size of a body.
http:
  routers:
${routers(options).join('\n')}
  services:
    coursegate: ${service(`http://${gate}`, true)}
${upstreams
  .map(
    (to) => `    coursegate-to-${to.id}: ${service(`${to.scheme}://${to.authority}`, to.host === options.origin.host)}`,
  )
  .join('\n')}
  middlewares:
    # For the site's own router: only coursegate may set these fields, which identify the member.
    coursegate-site:
      headers:
        customRequestHeaders:
${fields(removed(OWN_WHOLE_SPELLINGS))}
    # No field that a backend could take for an identity, an origin or another method.
    coursegate-request:
      headers:
        customRequestHeaders:
${fields({
  ...removed([
    ...['cookie', 'connection', ...TRACE_SPELLINGS],
    // Traefik sets and removes in any order, so no field may be in both.
    ...[...REMOVED_FIELDS.flatMap(ofFamily), ...OWN_WHOLE_SPELLINGS].filter((name) => !SET.includes(name)),
  ]),
  [DECISION_FIELDS.config]: options.fingerprint,
  [DECISION_FIELDS.secret]: decisions.secret ?? '',
})}
    # The gate takes the ID of a request from Traefik, and Traefik would pass on that of a client.
    coursegate-own:
      headers:
        customRequestHeaders:
${fields(removed(TRACE_SPELLINGS))}
    coursegate-ask:
      forwardAuth:
        address: ${quoted(`http://${dialled(decisions.address)}${DECISION_PATHS.forwardAuth}`)}
        trustForwardHeader: false
        authResponseHeaders: [${[...IDENTITY_FIELDS, 'X-Request-Id'].join(', ')}]
${upstreams.map((upstream) => forwarding(options, upstream)).join('\n')}
`;
  return [{ name: 'traefik.yaml', text }];
}

/** The rule with the highest priority applies, so what comes first has the highest. */
function routers(options: PluginOptions): readonly string[] {
  const { origin, paths, patterns, routes } = options;
  const all = patterns.map(pathExpression).join('|');
  const toGate = { service: 'coursegate', middlewares: ['coursegate-own'] };
  const rows = [
    { name: 'coursegate', rule: pathRule(oneExpression(paths).slice(1, -1), 's'), ...toGate },
    { name: 'coursegate-options', rule: `${pathRule(all, 'is')} && Method(\`OPTIONS\`)`, ...toGate },
    ...routes.map(({ path, methods, upstream }, at) => ({
      name: `coursegate-${at}`,
      rule: `${pathRule(path, 'is')}${methods === undefined ? '' : ` && (${methods.map((one) => `Method(\`${one}\`)`).join(' || ')})`}`,
      ...(upstream === undefined
        ? toGate
        : {
            service: `coursegate-to-${upstream.id}`,
            middlewares: ['coursegate-request', 'coursegate-ask', `coursegate-to-${upstream.id}`],
          }),
    })),
    { name: 'coursegate-rest', rule: pathRule(`${all}|${UNUSUAL_DECODED}`, 'is'), ...toGate },
  ];
  const { hostname } = new URL(origin.url);
  return rows.map(
    ({ name, rule, service: to, middlewares }, at) => `    ${name}:
      rule: ${quoted(`Host(\`${hostname}\`) && ${rule}`)}
      priority: ${100_000 + rows.length - at}
      service: ${to}
      middlewares: [${middlewares.join(', ')}]
${origin.scheme === 'https' ? '      tls: {}   # and the certResolver of the site, if it has one\n' : ''}`,
  );
}

function pathRule(expression: string, flags: string): string {
  return `PathRegexp(\`(?${flags})^(${expression})$\`)`;
}

function service(url: string, passHostHeader: boolean): string {
  return `{ loadBalancer: { passHostHeader: ${passHostHeader}, responseForwarding: { flushInterval: 1ms }, servers: [{ url: ${quoted(url)} }] } }`;
}

/** What the upstream and the client get. */
function forwarding({ origin }: PluginOptions, { id, droppedFields, hiddenFields }: PluginUpstream): string {
  return `    coursegate-to-${id}:
      headers:
        customRequestHeaders:
${fields({
  ...removed(['authorization', 'dpop', DECISION_FIELDS.config, DECISION_FIELDS.secret, ...droppedFields]),
  'X-Forwarded-Host': origin.host,
  'X-Forwarded-Proto': origin.scheme,
  'X-Forwarded-Port': origin.port,
})}
        customResponseHeaders:
${fields({
  ...removed(hiddenFields.filter((name) => !Object.hasOwn(CORS_RESPONSE_FIELDS, name))),
  ...CORS_RESPONSE_FIELDS,
  'Cache-Control': MEMBER_CACHE_CONTROL,
})}`;
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

function fields(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `          ${name}: ${quoted(value)}`)
    .join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
