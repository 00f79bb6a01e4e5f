import type { DecisionAddress } from '../../../../config/decisions.ts';
import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import { IDENTITY_FIELDS, OWN_IDENTITY } from '../../../../http/identity-fields.ts';
import { codePath, readInstalled } from '../../../../installation.ts';
import { oneExpression } from '../gate-paths.ts';
import type { AskingGateway } from '../gateway.ts';
import { hostPort } from '../host-port.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  fieldExpression,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginOptions,
  type PluginRoute,
  type PluginUpstream,
  problemBody,
  type SnippetFile,
} from '../plugin-options.ts';
import { UNUSUAL } from '../plugin-paths.ts';

/** What is the same for every configuration. */
const SCRIPT = codePath('operator/setup/snippets/haproxy/coursegate.lua');

export const haproxy = {
  name: 'haproxy',
  title: 'HAProxy',
  plugin: 'haproxy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** For HAProxy: a whole configuration, and the Lua script that asks. */
function files(options: PluginOptions): readonly SnippetFile[] {
  return [
    { name: 'coursegate.cfg', text: configuration(options) },
    { name: 'coursegate.lua', text: script(options) },
  ];
}

function configuration(options: PluginOptions): string {
  const { origin, gate, upstreams } = options;
  const bind =
    origin.scheme === 'https'
      ? `bind :${origin.port} ssl crt /etc/haproxy/site.pem alpn h2,http/1.1`
      : `bind :${origin.port}`;
  return `# ${firstLine(options)}
# For HAProxy 2.6 or newer with Lua. Change what is marked with "Yours". Then: haproxy -c -f coursegate.cfg
global
    # Yours: where you keep the other file
    lua-load-per-thread /etc/haproxy/coursegate.lua

defaults coursegate
    mode http
    timeout connect 5s
    timeout client 1m
    timeout http-request 10s
    timeout server 1m
    timeout tunnel 1h

frontend coursegate from coursegate
    # Yours. If you have a frontend already, move the other lines of this one to its beginning.
    ${bind}
    # HAProxy passes these on as they are, and servers read them differently.
    http-request deny deny_status 400 unless { req.ver 1.0 1.1 2.0 3.0 }
    http-request deny deny_status 400 if { req.fhdr(transfer-encoding) -m found } !{ req.fhdr(transfer-encoding) -m str -i chunked }
    http-request deny deny_status 400 if !{ req.ver 1.0 } !{ req.fhdr_cnt(host) eq 1 }
    http-request deny deny_status 400 if { req.hdrs -m reg '\\x00' }
    # Only coursegate may set these fields, which identify the member.
    http-request del-header ${quoted(`^${fieldExpression(OWN_IDENTITY)}$`)} -m reg
${destination(options)}
${asking(options)}
    use_backend coursegate_gate if { var(txn.coursegate_to) -m str gate }
${upstreams.map(({ id }) => `    use_backend coursegate_to_${id} if { var(txn.coursegate_to) -m str to_${id} }`).join('\n')}
    default_backend site

backend site from coursegate
    # Yours: the rest of the site
    server site 127.0.0.1:8080

# coursegate: its own addresses, and the routes that it forwards itself
backend coursegate_gate from coursegate
    timeout server 1h
    http-request set-header X-Forwarded-Host %[req.hdr(host)]
    http-request set-header X-Forwarded-Proto ${origin.scheme}
    http-request set-header X-Request-Id %[uuid()]
    option forwardfor
    server gate ${gate}
${upstreams.map((upstream) => backend(options, upstream)).join('')}`;
}

/** Sets txn.coursegate_to: to `gate`, to the name of a backend, or not at all for the rest of the site. */
function destination({ paths, routes }: PluginOptions): string {
  const path = 'var(txn.coursegate_path)';
  const open = '!{ var(txn.coursegate_to) -m found }';
  const rule = (to: string, ...conditions: string[]) =>
    `    http-request set-var(txn.coursegate_to) str(${to}) if ${conditions.join(' ')}`;
  const all = routes.map((route) => route.path).join('|');
  return `    # Where a request goes. Targets that two servers may read differently go to coursegate, which judges them.
    http-request set-var(txn.coursegate_path) path,url_dec
${[
  rule('gate', `!{ ${path} -m found }`),
  // A lookahead, so that the gate gets the request if the expression fails.
  rule('gate', `!{ path -m reg -i ${quoted(`^(?!${UNUSUAL})`)} }`),
  rule('gate', open, `{ ${path} -m reg -i ${quoted(oneExpression(paths))} }`),
  ...routes.map((route) =>
    rule(nameOf(route), open, `{ ${path} -m reg -i ${quoted(`^${route.path}$`)} }`, methods(route)),
  ),
  '    # Preflights, and methods that no route has',
  rule('gate', open, `{ ${path} -m reg -i ${quoted(`^(${all})$`)} }`),
].join('\n')}`;
}

function nameOf({ upstream }: PluginRoute): string {
  return upstream === undefined ? 'gate' : `to_${upstream.id}`;
}

function methods({ methods: accepted }: PluginRoute): string {
  return accepted === undefined ? '!{ method OPTIONS }' : `{ method ${accepted.join(' ')} }`;
}

function asking({ largestBody }: PluginOptions): string {
  const asked = '{ var(txn.coursegate_to) -m beg to_ }';
  const admitted = '{ var(txn.coursegate_admitted) -m str yes }';
  const own = (status: number, code: Parameters<typeof problemBody>[0], more = '') =>
    `http-request return status ${status} content-type application/problem+json hdr Cache-Control no-store hdr X-Request-Id %[var(txn.coursegate_own_id)] hdr Access-Control-Allow-Origin *${more} lf-string ${quoted(problemBody(code, '%[var(txn.coursegate_own_id)]'))}`;
  return `    http-request set-var(txn.coursegate_own_id) uuid() if ${asked}
${largestBody === undefined ? '' : `    ${own(413, 'payload_too_large')} if ${asked} { req.hdr_val(content-length) gt ${largestBody} }\n`}    http-request lua.coursegate_ask if ${asked}
    # No answer: nothing is let through.
    ${own(503, 'store_unavailable', ' hdr Retry-After 5')} if ${asked} !${admitted}`;
}

function backend({ origin }: PluginOptions, upstream: PluginUpstream): string {
  const { id, scheme, servername, host, timeout, hiddenFields } = upstream;
  const name = servername === '' ? '' : ` sni str(${servername}) verifyhost ${servername}`;
  const tls = scheme === 'https' ? ` ssl verify required ca-file @system-ca${name}` : '';
  const set = (name: string, value: string, condition = '') =>
    `    http-response set-header ${name} ${value}${condition === '' ? '' : ` if ${condition}`}`;
  const kept = (name: string, variable: string) =>
    set(name, `%[var(txn.${variable})]`, `{ var(txn.${variable}) -m found }`);
  const member = '{ var(txn.coursegate_member) -m found }';
  return `
# Requests that coursegate has admitted
backend coursegate_to_${id} from coursegate
    # Before 3.2, HAProxy passes trailers on. They are no header fields, and backends keep them apart.
.if version_atleast(3.2)
    option http-drop-request-trailers
.endif
    timeout server ${Math.max(1, Math.round(timeout * 1000))}ms
    http-request set-header Host ${host}
    http-request set-header X-Forwarded-For %[src]
    http-request set-header X-Real-IP %[src]
    http-request set-header X-Forwarded-Host ${origin.host}
    http-request set-header X-Forwarded-Proto ${origin.scheme}
    http-request set-header X-Forwarded-Port ${origin.port}
    http-request set-header X-Request-Id %[var(txn.coursegate_request_id)]
    # The token was valid: with a 401, the app would ask for another one.
    http-response set-status 403 if { status 401 }
    http-response del-header ${quoted(`^(${hiddenFields.join('|')})$`)} -m reg
${[
  kept('X-Request-Id', 'coursegate_request_id'),
  kept('RateLimit', 'coursegate_ratelimit'),
  kept('RateLimit-Policy', 'coursegate_ratelimit_policy'),
  ...Object.entries(CORS_RESPONSE_FIELDS).map(([name, value]) => set(name, quoted(value))),
  set('Cache-Control', quoted(MEMBER_CACHE_CONTROL), member),
  set('Cache-Control', quoted(MEMBER_CACHE_CONTROL), '{ status ge 400 }'),
  `    http-response add-header Vary Authorization if !${member} { status lt 400 }`,
].join('\n')}
    server ${id} ${hostPort({ host: upstream.hostname, port: upstream.port })}${tls}
`;
}

function script(options: PluginOptions): string {
  const { fingerprint, decisions, upstreams } = options;
  const { secret, address } = decisions;
  const question = [
    `GET ${DECISION_PATHS.haproxy} HTTP/1.0`,
    'Host: coursegate',
    `${DECISION_FIELDS.config}: ${fingerprint}`,
    ...(secret === undefined ? [] : [`${DECISION_FIELDS.secret}: ${secret}`]),
  ];
  return `-- ${firstLine(options)}
local ADDRESS = { ${place(address)} }
local CONNECT_LIMIT, ANSWER_LIMIT = ${DECISION_LIMITS.connect}, ${DECISION_LIMITS.answer}
local QUESTION = ${list(question)}
local IDENTITY = ${list(IDENTITY_FIELDS.map((name) => name.toLowerCase()))}
local FIELDS = {
${upstreams.map(({ id, requestFields }) => `  ['to_${id}'] = ${list(requestFields)},\n`).join('')}}

${readInstalled(SCRIPT).toString('utf8')}`;
}

function list(texts: readonly string[]): string {
  return `{ ${texts.map((text) => `'${text.replace(/['\\]/g, '\\$&')}'`).join(', ')} }`;
}

function place(address: DecisionAddress): string {
  if ('path' in address) return `'${address.path.replace(/['\\]/g, '\\$&')}'`;
  const { host, port } = address;
  return `'${host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host}', ${port}`;
}

/** In single quotes, in which HAProxy interprets nothing. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
