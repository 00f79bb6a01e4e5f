import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import type { DecisionAddress } from '../../../../decisions/settings.ts';
import { OWN_IDENTITY } from '../../../../http/identity-fields.ts';
import { hostPort, reachableHost } from '../../../host-port.ts';
import { filledFile } from '../../text-template.ts';
import { oneExpression } from '../gate-paths.ts';
import type { AskingGateway } from '../gateway.ts';
import { UNUSUAL } from '../plugin-paths.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  fieldExpression,
  firstLine,
  IDENTITY_NAMES,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginRoute,
  type PluginUpstream,
  problemBody,
  type SnippetFile,
} from '../plugin-plan.ts';

export const haproxy = {
  name: 'haproxy',
  title: 'HAProxy',
  plugin: 'haproxy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** For HAProxy: a whole configuration, and the Lua script that asks. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  return [
    { name: 'coursegate.cfg', text: configuration(plan) },
    { name: 'coursegate.lua', text: script(plan) },
  ];
}

function configuration(plan: PluginPlan): string {
  const { origin, gate, paths, routes, upstreams, largestBody } = plan;
  const all = routes.map((route) => route.path).join('|');
  return filledFile('snippets/haproxy/coursegate.cfg', {
    firstLine: firstLine(plan),
    port: origin.port,
    tls: origin.scheme === 'https' ? ' ssl crt /etc/haproxy/site.pem alpn h2,http/1.1' : '',
    forged: quoted(`^${fieldExpression(OWN_IDENTITY)}$`),
    // A lookahead, so that the gate gets the request if the expression fails.
    usual: quoted(`^(?!${UNUSUAL})`),
    own: quoted(oneExpression(paths)),
    routes: routes.map(destination),
    all: quoted(`^(${all})$`),
    tooLarge:
      largestBody === undefined
        ? []
        : `${ownAnswer(413, 'payload_too_large')} if { var(txn.coursegate_to) -m beg to_ } { req.hdr_val(content-length) gt ${largestBody} }`,
    unavailable: ownAnswer(503, 'store_unavailable', ' hdr Retry-After 5'),
    choices: upstreams.map(({ id }) => `use_backend coursegate_to_${id} if { var(txn.coursegate_to) -m str to_${id} }`),
    scheme: origin.scheme,
    gate,
    backends: upstreams.map((upstream) => backend(plan, upstream)),
  });
}

/** Sets txn.coursegate_to to `gate` or to the name of a backend, unless an earlier line has. For the rest of the site it stays unset. */
function destination({ path, methods, upstream }: PluginRoute): string {
  const to = upstream === undefined ? 'gate' : `to_${upstream.id}`;
  const method = methods === undefined ? '!{ method OPTIONS }' : `{ method ${methods.join(' ')} }`;
  return `http-request set-var(txn.coursegate_to) str(${to}) if !{ var(txn.coursegate_to) -m found } { var(txn.coursegate_path) -m reg -i ${quoted(`^${path}$`)} } ${method}`;
}

function ownAnswer(status: number, code: Parameters<typeof problemBody>[0], more = ''): string {
  return `http-request return status ${status} content-type application/problem+json hdr Cache-Control no-store hdr X-Request-Id %[var(txn.coursegate_own_id)] hdr Access-Control-Allow-Origin *${more} lf-string ${quoted(problemBody(code, '%[var(txn.coursegate_own_id)]'))}`;
}

function backend({ origin }: PluginPlan, upstream: PluginUpstream): string {
  const { id, scheme, hostname, port, servername, host, timeout, hiddenFields } = upstream;
  const name = servername === '' ? '' : ` sni str(${servername}) verifyhost ${servername}`;
  const tls = scheme === 'https' ? ` ssl verify required ca-file @system-ca${name}` : '';
  return filledFile('snippets/haproxy/backend.cfg', {
    id,
    timeout: Math.max(1, Math.round(timeout * 1000)),
    host,
    originHost: origin.host,
    originScheme: origin.scheme,
    originPort: origin.port,
    hidden: quoted(`^(${hiddenFields.join('|')})$`),
    cors: Object.entries(CORS_RESPONSE_FIELDS).map(
      ([field, value]) => `http-response set-header ${field} ${quoted(value)}`,
    ),
    private: quoted(MEMBER_CACHE_CONTROL),
    server: `${hostPort({ host: hostname, port })}${tls}`,
  });
}

function script(plan: PluginPlan): string {
  const { fingerprint, decisions, upstreams } = plan;
  const { secret, address } = decisions;
  const question = [
    `GET ${DECISION_PATHS.haproxy} HTTP/1.0`,
    'Host: coursegate',
    `${DECISION_FIELDS.config}: ${fingerprint}`,
    ...(secret === undefined ? [] : [`${DECISION_FIELDS.secret}: ${secret}`]),
  ];
  return filledFile('snippets/haproxy/coursegate.lua', {
    firstLine: firstLine(plan),
    address: place(address),
    connect: DECISION_LIMITS.connect,
    answer: DECISION_LIMITS.answer,
    question: list(question),
    identity: list(IDENTITY_NAMES),
    fields: upstreams.map(({ id, requestFields }) => `['to_${id}'] = ${list(requestFields)},`),
  });
}

function list(texts: readonly string[]): string {
  return `{ ${texts.map((text) => `'${text.replace(/['\\]/g, '\\$&')}'`).join(', ')} }`;
}

function place(address: DecisionAddress): string {
  if ('path' in address) return `'${address.path.replace(/['\\]/g, '\\$&')}'`;
  return `'${reachableHost(address.host)}', ${address.port}`;
}

/** In single quotes, in which HAProxy interprets nothing. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
