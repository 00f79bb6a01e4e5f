import { caddy } from '../kinds/caddy.ts';
import { envoy } from '../kinds/envoy.ts';
import { haproxy } from '../kinds/haproxy.ts';
import { istio } from '../kinds/istio.ts';
import { nginxMainline } from '../kinds/nginx.ts';
import { traefik } from '../kinds/traefik.ts';
import type { GatewayKind } from './gateway-kind.ts';

type Change = (snippet: string) => string;

/** A change that an operator could make to a printed file, and the checks that must report it. */
export interface FileFault {
  readonly kind: GatewayKind;
  readonly what: string;
  readonly change: Change;
  readonly finds: readonly string[];
  /** Whether it shows only while the gate does not answer. */
  readonly authDown?: true;
}

/** Replaces one part of a file, which must have it. */
function edit(part: RegExp, by = ''): Change {
  return (snippet) => {
    const changed = snippet.replace(part, by);
    if (changed === snippet) throw new Error(`The file has no ${part}.`);
    return changed;
  };
}

const faults =
  (kind: GatewayKind) =>
  (what: string, change: Change, ...finds: readonly string[]): FileFault => ({ kind, what, change, finds });
const whileDown = (fault: FileFault): FileFault => ({ ...fault, authDown: true });

const inNginx = faults(nginxMainline);
const inCaddy = faults(caddy);
const inEnvoy = faults(envoy);
const inIstio = faults(istio);
const inHaproxy = faults(haproxy);
const inTraefik = faults(traefik);

const NGINX: readonly FileFault[] = [
  inNginx('does not ask', edit(/^ *auth_request \/.*\n/m), 'echo.protected'),
  inNginx('lets clients send identity fields to the site', edit(/^if \(\$coursegate_forged\).*\n/m), 'forged.public'),
  inNginx('takes names with dots', edit(/ignore_invalid_headers on;/, 'ignore_invalid_headers off;'), 'forged.public'),
  inNginx(
    'passes unusual targets to the site',
    edit(/( *# (Characters|Escapes|Bytes) .*\n.* gate;\n){3}/),
    'path.parameters',
  ),
  inNginx(
    'forwards the decoded path',
    edit(/(proxy_pass http:\/\/coursegate_to_\w+)\$request_uri;/, '$1$uri$is_args$args;'),
    'path.forwarded',
  ),
  inNginx(
    'passes all fields of the client',
    edit(/(auth_request \/(?:[^}]|\{[^}]*\})*?)proxy_pass_request_headers off;/, '$1'),
    'described.rewrite',
    'forged.other-names',
  ),
  inNginx(
    'sends the member that the client names',
    edit(/(proxy_set_header X-Member-Id )\$coursegate\w+;/, '$1$http_x_member_id;'),
    'forged.other-names',
  ),
  inNginx(
    'believes the client about its address',
    edit(/(proxy_set_header X-Forwarded-For )\$remote_addr;/, '$1$http_x_forwarded_for;'),
    'described.address',
  ),
  inNginx('answers 403 with its own page', edit(/^ *error_page 403 .*\n/m), 'refusal.body', 'refusal.forbidden'),
  inNginx('does not say the secret', edit(/proxy_set_header X-Coursegate-Secret [^;]*;/), 'echo.reached'),
  whileDown(inNginx('calls an outage a success', edit(/return 503 '/, "return 200 '"), 'open.down')),
];

const CADDY: readonly FileFault[] = [
  inCaddy('passes unusual targets to the site', edit(/^.*\[\^A-Za-z0-9.*\n/m), 'path.parameters'),
  inCaddy('removes no identity fields', edit(/^(request_header -.*\n)+/m), 'forged.public', 'forged.unusual'),
  inCaddy(
    'asks only about GET',
    edit(/^(\t+)forward_auth /m, '$1@coursegate_get method GET\n$1forward_auth @coursegate_get '),
    'open.methods',
  ),
  inCaddy('keeps Connection', edit(/^\t*request_header -connection\n/m), 'forged.connection'),
];

const HAPROXY: readonly FileFault[] = [
  inHaproxy('passes unusual targets to the site', edit(/.*path -m reg -i .*\(\?!.*\n/), 'path.parameters'),
  inHaproxy('removes no identity fields', edit(/^ *http-request del-header '\^\(x\[.*\n/m), 'forged.public'),
  whileDown(inHaproxy('forwards without an answer', edit(/^ *http-request return status 503 .*\n/m), 'open.down')),
];

const NO_IDENTITY_REMOVED = edit(/^( *)early_header_mutation_extensions:\n(\1 .*\n|\1- .*\n)+/m);

const ENVOY: readonly FileFault[] = [
  inEnvoy('removes no identity fields', NO_IDENTITY_REMOVED, 'forged.public', 'forged.unusual'),
  inEnvoy('passes unusual targets to the site', edit(/'\(\?is\)/g, "'never"), 'path.parameters'),
  inEnvoy(
    'asks about no request',
    edit(/^( *)failure_mode_allow: .*\n/m, '$&$1filter_enabled: { default_value: { numerator: 0 } }\n'),
    'echo.protected',
  ),
  inEnvoy(
    'believes the client about its address',
    edit(/use_remote_address: true/, 'use_remote_address: false'),
    'described.address',
  ),
  whileDown(
    inEnvoy('admits without an answer', edit(/failure_mode_allow: false/, 'failure_mode_allow: true'), 'open.down'),
  ),
];

const ISTIO: readonly FileFault[] = [
  inIstio('removes no identity fields', NO_IDENTITY_REMOVED, 'forged.public'),
  inIstio('passes unusual targets to the site', edit(/'\(\?is\)/g, "'never"), 'path.parameters'),
  inIstio('asks about another path', edit(/^( *paths: ).*/m, "$1['/never']"), 'echo.protected'),
  whileDown(inIstio('admits without an answer', edit(/failOpen: false/, 'failOpen: true'), 'open.down')),
];

const TRAEFIK: readonly FileFault[] = [
  inTraefik('asks about no request', edit(/coursegate-ask, /), 'echo.protected'),
  inTraefik('removes no identity fields', edit(/ x-member-id: '',/), 'forged.public'),
  inTraefik(
    'passes unusual targets to the site',
    edit(/PathRegexp\(`[^`]*\\x\{FFFD\}[^`]*`\)/, 'Path(`/never`)'),
    'path.parameters',
  ),
];

export const FILE_FAULTS: readonly FileFault[] = [...NGINX, ...CADDY, ...HAPROXY, ...ENVOY, ...ISTIO, ...TRAEFIK];
