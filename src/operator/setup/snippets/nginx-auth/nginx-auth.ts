// nginx with auth_request. What is chosen by method and path is chosen in the rewrite phase of the server block: no
// location of the site can take precedence over it, whatever its order and its modifiers.

import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../../http/identity-fields.ts';
import { OWN_NAMES } from '../forged-names.ts';
import type { AskingGateway } from '../gateway.ts';
import { block, requestVariable } from '../nginx-text.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  firstLine,
  type PluginOptions,
  type PluginUpstream,
  problemBody,
  type SnippetFile,
} from '../plugin-options.ts';
import { AT } from './destinations.ts';
import { httpBlock } from './http-block.ts';

export const nginxAuth = {
  name: 'nginx-auth',
  title: 'nginx',
  plugin: 'nginx',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** For the `http` block, for the `server` block of the site, and for the locations of its backends. */
function files(options: PluginOptions): readonly SnippetFile[] {
  const head = `# ${firstLine(options)}`;
  return [
    { name: 'coursegate-http.conf', text: `${head}\n${httpBlock(options)}` },
    { name: 'coursegate.conf', text: `${head}\n${forServer(options)}` },
    { name: 'coursegate-site.conf', text: `${head}\n${forLocations()}` },
  ];
}

/** The fields with these prefixes that browsers send: nginx cannot copy fields by a prefix. */
const FIELDS_OF_PREFIX: Readonly<Record<string, readonly string[]>> = {
  'sec-fetch-*': ['sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-user'],
  'sec-ch-*': [
    ...['sec-ch-ua', 'sec-ch-ua-arch', 'sec-ch-ua-bitness', 'sec-ch-ua-full-version-list', 'sec-ch-ua-mobile'],
    ...['sec-ch-ua-model', 'sec-ch-ua-platform', 'sec-ch-ua-platform-version', 'sec-ch-prefers-color-scheme'],
  ],
};

function forLocations(): string {
  const names = OWN_NAMES.map((name) => name.toUpperCase().replaceAll('-', '_'));
  return `# Include this file in every location of the site that passes requests to a backend which reads X-Member-Id and the like.
# nginx before 1.23 sees only the first of several fields with the same name, so coursegate.conf cannot refuse the others.
${[...OWN_NAMES.map((name) => `proxy_set_header ${name} "";`), ...['fastcgi', 'uwsgi', 'scgi'].flatMap((to) => names.map((name) => `${to}_param HTTP_${name} "";`))].join('\n')}
`;
}

function forServer(options: PluginOptions): string {
  return `# Include this file at the top of the server block of the site, and coursegate-http.conf in the http block. Then: nginx -t

# A client cannot reach the locations below: this was evaluated before any internal request.
if ($coursegate_outside) { return 404; }
# Rewrites of the site do not apply to internal requests.
if ($uri ~ "^${AT.replace('.', '\\.')}/") { break; }
set $coursegate_destination $coursegate_to;
if ($coursegate_forged) { return 400; }
if ($coursegate_destination) { rewrite ^ ${AT}/$coursegate_destination last; }

# What coursegate answers or forwards itself. It applies its own limits. Nothing is buffered, for event streams.
${block(`location = ${AT}/gate`, [
  ...OURS,
  ...UNASKED,
  'client_max_body_size 0;',
  'proxy_pass http://coursegate_gate$request_uri;',
  'proxy_set_header Host $http_host;',
  'proxy_set_header Connection "";',
  'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  'proxy_set_header X-Forwarded-Host $http_host;',
  'proxy_set_header X-Forwarded-Proto $scheme;',
  'proxy_set_header X-Request-Id $request_id;',
  'proxy_read_timeout 1h;',
  'error_page 502 504 = @coursegate_unavailable;',
])}
# The question whether a request may pass. It has only the fields that the decision needs.
${block(`location = ${AT}/decision`, [
  ...OURS,
  ...UNASKED,
  // The length of the body is known here too, though none is sent.
  'client_max_body_size 0;',
  `proxy_pass http://coursegate_decisions${DECISION_PATHS.nginx};`,
  ...asking(options),
  'proxy_set_header X-Original-Method $request_method;',
  'proxy_set_header X-Original-Host $http_host;',
  'proxy_set_header X-Original-URI $request_uri;',
  'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  'proxy_set_header X-Request-Id $request_id;',
  ...['Authorization', 'DPoP', 'Content-Type', 'User-Agent', 'Traceparent', 'Tracestate'].map(copied),
  'error_page 500 502 503 504 = @coursegate_unavailable;',
])}
# The whole answer to a request that was refused: auth_request knows only that it was.
${block(`location = ${AT}/answer`, [
  ...OURS,
  ...UNASKED,
  `client_max_body_size ${options.largestBody ?? 0};`,
  `proxy_pass http://coursegate_decisions${DECISION_PATHS.answer};`,
  ...asking(options),
  `proxy_set_header ${DECISION_FIELDS.answer} $coursegate_answer;`,
  'error_page 413 = @coursegate_too_large;',
  'error_page 500 502 504 = @coursegate_unavailable;',
])}
${options.upstreams.map((upstream) => forwarding(options, upstream)).join('\n')}
${ownAnswer('unavailable', 503, problemBody('store_unavailable', '$request_id'), ['add_header Retry-After 5 always;'])}
${ownAnswer('too_large', 413, problemBody('payload_too_large', '$request_id'))}`;
}

/** For each location that sends requests on: what the server block of the site might say otherwise. */
const OURS = [
  'internal;',
  'auth_basic off;',
  'satisfy all;',
  'expires off;',
  'proxy_http_version 1.1;',
  'proxy_buffering off;',
  'proxy_buffer_size 32k;',
  'proxy_buffers 4 32k;',
  'proxy_request_buffering off;',
  'proxy_intercept_errors off;',
  'proxy_cache off;',
  'proxy_store off;',
  'proxy_headers_hash_max_size 1024;',
  'proxy_headers_hash_bucket_size 128;',
];

const UNASKED = ['auth_request off;', 'proxy_redirect off;'];

/** What both requests to the decision listener have in common. */
function asking({ fingerprint, decisions }: PluginOptions): readonly string[] {
  const { secret } = decisions;
  return [
    'proxy_method GET;',
    'proxy_pass_request_body off;',
    'proxy_pass_request_headers off;',
    `proxy_connect_timeout ${DECISION_LIMITS.connect}s;`,
    `proxy_send_timeout ${DECISION_LIMITS.answer}s;`,
    `proxy_read_timeout ${DECISION_LIMITS.answer}s;`,
    'proxy_set_header Host coursegate;',
    'proxy_set_header Connection "";',
    'proxy_set_header Content-Length "";',
    `proxy_set_header ${DECISION_FIELDS.config} ${fingerprint};`,
    ...(secret === undefined ? [] : [`proxy_set_header ${DECISION_FIELDS.secret} "${secret}";`]),
  ];
}

function copied(name: string): string {
  return `proxy_set_header ${name} ${requestVariable(name)};`;
}

/** The path and query are sent as they came, because they were judged as they came. */
function forwarding(options: PluginOptions, upstream: PluginUpstream): string {
  const { origin } = options;
  const { id, scheme, authority, host, requestFields, hiddenFields, timeout } = upstream;
  const kept = (name: string) => `$coursegate_${name.toLowerCase().replaceAll('-', '_')}`;
  const set = (name: string) =>
    `auth_request_set ${kept(name)} $upstream_http_${name.toLowerCase().replaceAll('-', '_')};`;
  return `# Requests that coursegate admits, with the member's identity and otherwise only known fields.
${block(`location = ${AT}/to_${id}`, [
  ...OURS,
  `auth_request ${AT}/decision;`,
  ...[...IDENTITY_FIELDS, 'RateLimit', 'RateLimit-Policy'].map(set),
  `auth_request_set $coursegate_answer $upstream_http_${DECISION_FIELDS.answer.toLowerCase().replaceAll('-', '_')};`,
  'recursive_error_pages on;',
  `error_page 403 = ${AT}/answer;`,
  'error_page 401 500 = @coursegate_unavailable;',
  'error_page 413 = @coursegate_too_large;',
  `client_max_body_size ${options.largestBody ?? 0};`,
  `proxy_pass ${scheme}://coursegate_to_${id}$request_uri;`,
  ...tls(upstream),
  `proxy_redirect ${scheme}://${authority}/ ${origin.url}/;`,
  'proxy_connect_timeout 2s;',
  // Event streams may be silent for a while, and nginx cannot tell them apart.
  `proxy_read_timeout ${Math.max(timeout, 60)}s;`,
  'proxy_pass_request_headers off;',
  `proxy_set_header Host ${host};`,
  'proxy_set_header Connection "";',
  'proxy_set_header X-Forwarded-For $remote_addr;',
  'proxy_set_header X-Real-IP $remote_addr;',
  `proxy_set_header X-Forwarded-Host ${origin.host};`,
  `proxy_set_header X-Forwarded-Proto ${origin.scheme};`,
  `proxy_set_header X-Forwarded-Port ${origin.port};`,
  'proxy_set_header X-Request-Id $request_id;',
  ...IDENTITY_FIELDS.map((name) => `proxy_set_header ${name} ${kept(name)};`),
  ...requestFields.flatMap((name) => FIELDS_OF_PREFIX[name] ?? name).map(copied),
  'proxy_ignore_headers X-Accel-Redirect X-Accel-Expires X-Accel-Limit-Rate X-Accel-Buffering X-Accel-Charset;',
  ...[...hiddenFields, 'cache-control'].map((name) => `proxy_hide_header ${name};`),
  'add_header Cache-Control $coursegate_cache_control always;',
  'add_header Vary Authorization always;',
  'add_header RateLimit $coursegate_ratelimit always;',
  'add_header RateLimit-Policy $coursegate_ratelimit_policy always;',
  ...ANSWER_FIELDS,
])}`;
}

/** The fields of every response on the routes. */
const ANSWER_FIELDS = [
  'add_header X-Request-Id $request_id always;',
  ...Object.entries(CORS_RESPONSE_FIELDS).map(([name, value]) => `add_header ${name} "${value}" always;`),
];

function tls({ scheme, hostname, servername }: PluginUpstream): readonly string[] {
  if (scheme === 'http') return [];
  return [
    `proxy_ssl_server_name ${servername === '' ? 'off' : 'on'};`,
    `proxy_ssl_name ${servername === '' ? hostname : servername};`,
    'proxy_ssl_verify on;',
    'proxy_ssl_verify_depth 5;',
    'proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;',
  ];
}

function ownAnswer(name: string, status: number, body: string, fields: readonly string[] = []): string {
  return block(`location @coursegate_${name}`, [
    'types { }',
    'default_type application/problem+json;',
    'add_header Cache-Control no-store always;',
    ...fields,
    ...ANSWER_FIELDS,
    `return ${status} '${body.replace(/['\\]/g, '\\$&')}';`,
  ]);
}
