// nginx with auth_request. What is chosen by method and path is chosen in the rewrite phase of the server block: no
// location of the site can take precedence over it, whatever its order and its modifiers.

import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../../http/identity-fields.ts';
import { hostPort } from '../../../host-port.ts';
import { filledFile, type TextFilling } from '../../text-template.ts';
import { OWN_NAMES } from '../forged-names.ts';
import type { AskingGateway } from '../gateway.ts';
import { block, requestVariable, variableName } from '../nginx-text.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginUpstream,
  problemBody,
  type SnippetFile,
} from '../plugin-plan.ts';
import { destinations } from './destinations.ts';

export const nginxAuth = {
  name: 'nginx-auth',
  title: 'nginx',
  plugin: 'nginx',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** For the `http` block, for the `server` block of the site, and for the locations of its backends. */
function files(plan: PluginPlan): readonly SnippetFile[] {
  const file = (name: string, filling: TextFilling): SnippetFile => ({
    name,
    text: filledFile(`snippets/nginx-auth/${name}`, { firstLine: firstLine(plan), ...filling }),
  });
  return [
    file('coursegate-http.conf', forHttp(plan)),
    file('coursegate.conf', forServer(plan)),
    file('coursegate-site.conf', forLocations()),
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

function forLocations(): TextFilling {
  const names = OWN_NAMES.map((name) => name.toUpperCase().replaceAll('-', '_'));
  return {
    removed: [
      ...OWN_NAMES.map((name) => `proxy_set_header ${name} "";`),
      ...['fastcgi', 'uwsgi', 'scgi'].flatMap((to) => names.map((name) => `${to}_param HTTP_${name} "";`)),
    ],
  };
}

function forHttp(plan: PluginPlan): TextFilling {
  const { gate, decisions, upstreams } = plan;
  const { address } = decisions;
  const isSocket = 'path' in address;
  return {
    socket: isSocket
      ? '# The user that nginx runs as needs the right to write to the Unix socket, which its group has.'
      : [],
    gate,
    decisions: isSocket ? `unix:${address.path}` : hostPort(address),
    upstreams: upstreams.map(({ id, authority }) =>
      block(`upstream coursegate_to_${id}`, [`server ${authority};`, 'keepalive 64;', 'keepalive_timeout 1s;']),
    ),
    destinations: destinations(plan),
    forged: OWN_NAMES.map(requestVariable).join(''),
    private: MEMBER_CACHE_CONTROL,
  };
}

/** For each location that sends requests on: what the server block of the site might say otherwise. */
const ours = () => filledFile('snippets/nginx-auth/ours.conf', {});

function forServer(plan: PluginPlan): TextFilling {
  return {
    ours: ours(),
    // The length of the body is known in the question too, though none is sent.
    askedAt: DECISION_PATHS.nginx,
    answeredAt: DECISION_PATHS.answer,
    asking: asking(plan),
    shown: ['Authorization', 'DPoP', 'Content-Type', 'User-Agent', 'Traceparent', 'Tracestate'].map(copied),
    largestBody: plan.largestBody ?? 0,
    answerField: DECISION_FIELDS.answer,
    forwarding: plan.upstreams.map((upstream) => forwarding(plan, upstream)).join('\n'),
    answerFields: ANSWER_FIELDS,
    unavailable: singleQuoted(problemBody('store_unavailable', '$request_id')),
    tooLarge: singleQuoted(problemBody('payload_too_large', '$request_id')),
  };
}

/** What both requests to the decision listener have in common. */
function asking({ fingerprint, decisions: { secret } }: PluginPlan): string {
  return filledFile('snippets/nginx-auth/asking.conf', {
    connectLimit: DECISION_LIMITS.connect,
    answerLimit: DECISION_LIMITS.answer,
    configField: DECISION_FIELDS.config,
    fingerprint,
    secret: secret === undefined ? [] : `proxy_set_header ${DECISION_FIELDS.secret} "${secret}";`,
  });
}

function copied(name: string): string {
  return `proxy_set_header ${name} ${requestVariable(name)};`;
}

/** The path and query are sent as they came, because they were judged as they came. */
function forwarding(plan: PluginPlan, upstream: PluginUpstream): string {
  const { origin } = plan;
  const { id, scheme, authority, host, requestFields, hiddenFields, timeout } = upstream;
  const kept = (name: string) => `$coursegate_${variableName(name)}`;
  return filledFile('snippets/nginx-auth/upstream.conf', {
    ...{ id, scheme, authority, host },
    ours: ours(),
    answered: [
      ...[...IDENTITY_FIELDS, 'RateLimit', 'RateLimit-Policy'].map(
        (name) => `auth_request_set ${kept(name)} $upstream_http_${variableName(name)};`,
      ),
      `auth_request_set $coursegate_answer $upstream_http_${variableName(DECISION_FIELDS.answer)};`,
    ],
    largestBody: plan.largestBody ?? 0,
    tls: tls(upstream),
    // Event streams may be silent for a while, and nginx cannot tell them from other responses.
    timeout: Math.max(timeout, 60),
    ...{ origin: origin.url, originHost: origin.host, originScheme: origin.scheme, originPort: origin.port },
    identity: IDENTITY_FIELDS.map((name) => `proxy_set_header ${name} ${kept(name)};`),
    fields: requestFields.flatMap((name) => FIELDS_OF_PREFIX[name] ?? name).map(copied),
    hidden: [...hiddenFields, 'cache-control'].map((name) => `proxy_hide_header ${name};`),
    answerFields: ANSWER_FIELDS,
  });
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

function singleQuoted(text: string): string {
  return text.replace(/['\\]/g, '\\$&');
}
