import type { DecisionAddress } from '../../../../config/decisions.ts';
import { DECISION_FIELDS, DECISION_PATHS } from '../../../../decisions/protocol.ts';
import { IDENTITY_FIELDS } from '../../../../http/identity-fields.ts';
import { OWN_SPELLINGS, REMOVED_FIELDS } from '../forged-names.ts';
import { oneExpression } from '../gate-paths.ts';
import type { AskingGateway } from '../gateway.ts';
import { hostPort } from '../host-port.ts';
import {
  CORS_RESPONSE_FIELDS,
  DECISION_LIMITS,
  firstLine,
  MEMBER_CACHE_CONTROL,
  type PluginOptions,
  type PluginRoute,
  type PluginUpstream,
  problemBody,
  type SnippetFile,
} from '../plugin-options.ts';
import { pathExpression, UNUSUAL } from '../plugin-paths.ts';

export const caddyAuth = {
  name: 'caddy-auth',
  title: 'Caddy',
  plugin: 'caddy',
  unixSockets: true,
  files,
} as const satisfies AskingGateway;

/** For a site block. Directives that Caddy 2.6 has, too. */
function files(options: PluginOptions): readonly SnippetFile[] {
  const { gate, paths, patterns } = options;
  const all = patterns.map(pathExpression).join('|');
  const text = `# ${firstLine(options)}
# Import this file at the top of the site block: of several handle directives, the first that matches applies.
# Then: caddy validate

# Only coursegate may set these fields, which identify the member.
${OWN_SPELLINGS.map((name) => `request_header -${name}`).join('\n')}

# What coursegate answers or forwards itself.
@coursegate_own path_regexp ${regexp(oneExpression(paths).slice(1, -1), 's')}
handle @coursegate_own {
${indented(toGate(gate, ''))}
}

# What Caddy forwards once coursegate has admitted it. Where to, is decided by the first route that matches.
@coursegate_routes path_regexp ${regexp(all, 'is')}
handle @coursegate_routes {
	route {
${indented(indented(inRoute(options)))}
	}
}

# Targets that two servers may read differently: coursegate judges them.
@coursegate_unusual vars_regexp {http.request.uri} ${regexp(`(?:${UNUSUAL}).*`, 'is')}
handle @coursegate_unusual {
${indented(toGate(gate, ''))}
}

# The decision cannot be had: nothing is let through.
handle_errors {
	@coursegate_unavailable vars coursegate_asking yes
	handle @coursegate_unavailable {
		header Retry-After 5
		header Cache-Control no-store
		header Content-Type application/problem+json
		header X-Request-Id {http.request.uuid}
${Object.entries(CORS_RESPONSE_FIELDS)
  .map(([name, value]) => `\t\theader ${name} "${value}"`)
  .join('\n')}
		respond \`${problemBody('store_unavailable', '')}\` 503
	}
}
`;
  return [{ name: 'Caddyfile', text }];
}

function inRoute(options: PluginOptions): string {
  const { gate, routes, upstreams, largestBody } = options;
  return `${['@coursegate_options method OPTIONS', ...routes.map(matcher)].join('\n')}
# The last line that matches sets it, so the first route comes last.
vars coursegate_to gate
${routes
  .map(({ upstream }, at) => `vars @coursegate_${at} coursegate_to ${upstream?.id ?? 'gate'}`)
  .toReversed()
  .join('\n')}
vars @coursegate_options coursegate_to gate
@coursegate_to_gate vars coursegate_to gate
${toGate(gate, '@coursegate_to_gate ')}
${largestBody === undefined ? '' : `request_body {\n\tmax_size ${largestBody}\n}\n`}
# No field that a backend could take for an identity, an origin or another method. A browser's cookies are for the site.
${['connection', 'cookie', 'proxy', 'traceparent', 'tracestate', 'x-request-id', ...ODD_NAMES, ...REMOVED_FIELDS].map((name) => `request_header -${name}`).join('\n')}

vars coursegate_asking yes
${asking(options)}
vars coursegate_asking no

@coursegate_credentials header Authorization *
header @coursegate_credentials {
	Cache-Control "${MEMBER_CACHE_CONTROL}"
	defer
}
header {
	+Vary Authorization
	defer
}
@coursegate_limited not vars {http.reverse_proxy.header.Ratelimit} ""
header @coursegate_limited {
	RateLimit {http.reverse_proxy.header.Ratelimit}
	RateLimit-Policy {http.reverse_proxy.header.Ratelimit-Policy}
	defer
}
${upstreams.map((upstream) => forwarding(options, upstream)).join('\n')}`;
}

/** Names with characters that only some backends tell from a hyphen. */
const ODD_NAMES = [...'_.!$%&+^|~'].map((character) => `*${character}*`);

function matcher({ path, methods }: PluginRoute, at: number): string {
  const method = methods === undefined ? [] : [`\tmethod ${methods.join(' ')}`];
  return [`@coursegate_${at} {`, ...method, `\tpath_regexp ${regexp(path, 'is')}`, '}'].join('\n');
}

function toGate(gate: string, of: string): string {
  return `reverse_proxy ${of}${gate} {\n\tflush_interval -1\n\theader_up X-Request-Id {http.request.uuid}\n}`;
}

function asking({ decisions, fingerprint }: PluginOptions): string {
  const { address, secret } = decisions;
  return `forward_auth ${dialled(address)} {
	uri ${DECISION_PATHS.forwardAuth}
	header_up ${DECISION_FIELDS.config} ${fingerprint}
${secret === undefined ? '' : `\theader_up ${DECISION_FIELDS.secret} ${secret}\n`}	header_up X-Request-Id {http.request.uuid}
	copy_headers ${[...IDENTITY_FIELDS, 'X-Request-Id'].join(' ')}
	transport http {
		dial_timeout ${DECISION_LIMITS.connect}s
		response_header_timeout ${DECISION_LIMITS.answer}s
	}
}`;
}

function dialled(address: DecisionAddress): string {
  return 'path' in address ? `unix/${address.path}` : hostPort(address);
}

function forwarding({ origin }: PluginOptions, upstream: PluginUpstream): string {
  const { id, scheme, authority, host, timeout, droppedFields, hiddenFields } = upstream;
  const set = { ...CORS_RESPONSE_FIELDS, 'X-Request-Id': '{http.request.header.X-Request-Id}' };
  const hidden = hiddenFields.filter((name) => !Object.keys(set).some((own) => own.toLowerCase() === name));
  return `@coursegate_to_${id} vars coursegate_to ${id}
reverse_proxy @coursegate_to_${id} ${scheme}://${authority} {
	header_up Host ${host}
	header_up X-Forwarded-Host ${origin.host}
	header_up X-Forwarded-Proto ${origin.scheme}
	header_up X-Forwarded-Port ${origin.port}
	header_up X-Real-IP {http.request.remote.host}
${['authorization', 'dpop', 'proxy-*', ...droppedFields].map((name) => `\theader_up -${name}`).join('\n')}
${hidden.map((name) => `\theader_down -${name}`).join('\n')}
${Object.entries(set)
  .map(([name, value]) => `\theader_down ${name} "${value}"`)
  .join('\n')}
	transport http {
		dial_timeout 2s
		response_header_timeout ${timeout}s
	}
}`;
}

/** Anchored, with flags of RE2. Backticks quote in a Caddyfile; no path of a route has one. */
function regexp(expression: string, flags: string): string {
  return `\`(?${flags})^(${expression})$\``;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '\t');
}
