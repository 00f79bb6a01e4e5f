import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuthService, Service } from './auth-service.ts';

/**
 * Configurations of real gateways that ask an auth service about `/echo` and `/staff`, and pass everything to one backend.
 * Each is correct unless an option makes it wrong in one way.
 */

/** Where a gateway listens, and what is around it. */
export interface Place {
  readonly port: number;
  /** `127.0.0.1:PORT`. */
  readonly echo: string;
  readonly auth: AuthService;
}

/** Targets that no client needs, as regular expressions for the path. nginx, HAProxy and Caddy read all of them. */
const ODD = {
  dots: String.raw`/(?:\.|%2[eE])(?:\.|%2[eE])?(?:[/?#]|$)`,
  slashes: String.raw`//|\x5c|%2[fF]|%5[cC]`,
  encoded: String.raw`%(?:25|[46][1-9a-fA-F]|[57][0-9aA]|3[0-9]|[c-fC-F][0-9a-fA-F])|[\x80-\xff]`,
  parameters: ';|%3[bB]',
  truncated: '#|%23|%[01][0-9a-fA-F]|%20',
};
type Odd = keyof typeof ODD;

function oddPath(except: readonly Odd[] = []): string {
  const patterns = Object.entries(ODD).filter(([name]) => !except.includes(name as Odd));
  return `^[^?]*(?:${patterns.map(([, pattern]) => pattern).join('|')})`;
}

interface Shared {
  readonly service?: Service;
  /** Odd targets that are not refused. */
  readonly odd?: readonly Odd[];
}

export interface NginxOptions extends Shared {
  /** Directives of the server. */
  readonly server?: string;
  /** Passes every field of the client that is not named in `drop`. By default a few are listed. */
  readonly drop?: readonly string[];
  /** How `/echo` is protected. */
  readonly protect?: string;
  /** Passes the client’s fields on to the auth service. */
  readonly askWithAll?: boolean;
  /** Keeps decisions, whoever asked for them. */
  readonly cached?: boolean;
  /** Asks about `/` too. */
  readonly askAlways?: boolean;
  /** How `/` goes to the backend, in place of the fields and the identity that the gateway sets. */
  readonly site?: string;
  /** Appended to the address of the backend. */
  readonly target?: string;
  /** What the client gets instead of the answers of the auth service. */
  readonly answers?: string;
  /** Another address than that of the auth service. */
  readonly authAt?: string;
}

const LISTED = ['Accept $http_accept', 'User-Agent $http_user_agent'];
const ABOUT = [
  'Host $http_host',
  'X-Forwarded-For $remote_addr',
  'X-Real-IP $remote_addr',
  'X-Forwarded-Proto $scheme',
];
const ANSWERS = 'error_page 401 = /answer/401; error_page 403 = /answer/403;';
const UNAVAILABLE = 'error_page 500 502 504 =503 @unavailable;';
export const FAIL_OPEN = `${ANSWERS} error_page 500 = @open;`;

export function nginxSite({ port, echo, auth }: Place, options: NginxOptions = {}): string {
  const { service = 'correct', odd, drop, target = '', authAt = auth.host } = options;
  const { answers = `${ANSWERS} ${UNAVAILABLE}`, protect = 'auth_request /ask;' } = options;
  const set = (fields: readonly string[]) => fields.map((field) => `proxy_set_header ${field};`).join(' ');
  const dropped = drop?.map((name) => `${name} ""`);
  const fields = `${dropped === undefined ? 'proxy_pass_request_headers off;' : ''} ${set([...(dropped ?? LISTED), ...ABOUT])}`;
  const asked = `${protect} auth_request_set $member $upstream_http_x_member_id; ${answers}`;
  const toEcho = `${fields} ${set(['X-Member-Id $member'])} proxy_pass http://${echo}${target};`;
  return `
  server {
    listen 127.0.0.1:${port};
    ${options.server ?? ''}
    if ($request_uri ~ "${oddPath(odd)}") { return 400; }
    set $member "";
    location / { ${options.askAlways === true ? asked : ''} ${options.site === undefined ? toEcho : `${options.site} proxy_pass http://${echo};`} }
    location /echo { ${asked} ${toEcho} }
    location /staff { auth_request /ask; ${answers} ${toEcho} }
    location = /ask {
      internal; proxy_pass http://${authAt}${auth.ask('nginx', service)}; proxy_pass_request_body off;
      ${options.askWithAll === true ? '' : 'proxy_pass_request_headers off;'}
      ${options.cached === true ? 'proxy_cache asked; proxy_cache_key $request_uri; proxy_cache_valid 200 1m;' : ''}
      ${set(['Content-Length ""', 'Authorization $http_authorization', 'X-Original-URI $request_uri'])}
    }
    location /answer/ { internal; proxy_pass http://${auth.host}; }
    location @open { ${toEcho} }
    location @unavailable {
      default_type application/json; add_header Retry-After 5 always; return 503 '{"error":"unavailable"}';
    }
  }`;
}

export function nginxConfiguration(folder: string, sites: readonly string[]): string {
  return `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off; large_client_header_buffers 4 16k;
  client_body_temp_path ${folder}/tmp/body; proxy_temp_path ${folder}/tmp/proxy;
  proxy_cache_path ${folder}/tmp/cache keys_zone=asked:1m;
  fastcgi_temp_path ${folder}/tmp/f; uwsgi_temp_path ${folder}/tmp/u; scgi_temp_path ${folder}/tmp/s;
  ${sites.join('\n')}
}`;
}

export interface HaproxyOptions extends Shared {
  /** Passes these fields of the client too, as a regular expression for the name in lower case. */
  readonly keep?: string;
  /** The condition under which the auth service is asked. */
  readonly protect?: string;
  /** How X-Member-Id is set. */
  readonly identify?: string;
  /** How X-Forwarded-For is set. */
  readonly address?: string;
  /** Admits targets in absolute-form. */
  readonly absolute?: boolean;
  /** Header fields of the answers that HAProxy writes for the auth service. */
  readonly challenge?: string;
  readonly later?: string;
}

const ADDRESS = 'http-request set-header X-Forwarded-For %[src]';

export function haproxySite({ port, echo, auth }: Place, options: HaproxyOptions = {}): string {
  const { service = 'correct', odd, keep = 'accept', address = ADDRESS, absolute = false } = options;
  const { protect = 'path_beg /echo /staff', identify = 'set-header X-Member-Id %[var(txn.member)] if protected' } =
    options;
  const { challenge = 'hdr WWW-Authenticate %[var(txn.challenge)]', later = 'hdr Retry-After 5' } = options;
  const refusal = (status: number) =>
    `http-request return status ${status} content-type application/json string '{"error":"refused"}'`;
  const framing = 'content-length|transfer-encoding|connection';
  return `
frontend front${port}
  bind 127.0.0.1:${port}
  ${absolute ? '' : "http-request deny deny_status 400 if { url -m reg '^[a-zA-Z]+://' }"}
  http-request deny deny_status 400 if { path -m reg '${oddPath(odd)}' }
  acl protected ${protect}
  http-request lua.ask http://${auth.host}${auth.ask('haproxy', service)} if protected
  ${refusal(401)} ${challenge} if protected { var(txn.status) -m int 401 }
  ${refusal(403)} ${challenge} if protected { var(txn.status) -m int 403 }
  ${refusal(503)} ${later} if protected !{ var(txn.status) -m int 200 }
  http-request del-header '^(?!(?:host|accept|user-agent|${framing}|${keep})$)' -m reg
  http-request ${identify}
  ${address}
  http-request set-header X-Forwarded-Proto http
  default_backend back${port}
backend back${port}
  server echo ${echo}
`;
}

/** Asks the auth service with HAProxy’s own HTTP client. */
const ASK = `
core.register_action("ask", { "http-req" }, function(txn, url)
  local sent = { ["x-original-uri"] = { txn.f:url() } }
  local authorization = txn.http:req_get_headers()["authorization"]
  if authorization then
    sent["authorization"] = {}
    for at = 0, #authorization do table.insert(sent["authorization"], authorization[at]) end
  end
  local answer = core.httpclient():get{ url = url, headers = sent }
  txn:set_var("txn.status", answer.status)
  local function first(name)
    local values = answer.headers and answer.headers[name]
    return values and values[0] or ""
  end
  txn:set_var("txn.challenge", first("www-authenticate"))
  if first("x-member-id") ~= "" then txn:set_var("txn.member", first("x-member-id")) end
end, 1)
`;

export function haproxyConfiguration(folder: string, sites: readonly string[]): string {
  const script = join(folder, 'ask.lua');
  writeFileSync(script, ASK);
  return `
global
  maxconn 512
  lua-load ${script}
defaults
  mode http
  timeout connect 2s
  timeout client 10s
  timeout server 10s
${sites.join('\n')}`;
}

export interface CaddyOptions extends Shared {
  /** The fields that are removed, with wildcards. */
  readonly remove?: readonly string[];
  /** Conditions under which the auth service is asked. */
  readonly protect?: string;
}

/** Connection first: Caddy removes the fields that it names, and by then its own are among them. */
export const REMOVED = [
  'Connection',
  '*_*',
  '*.*',
  '*~*',
  'X-*',
  'Remote-*',
  'Cf-*',
  'Tailscale-*',
  'Client-*',
  'Forwarded',
];

export function caddySite({ port, echo, auth }: Place, options: CaddyOptions = {}): string {
  const {
    service = 'correct',
    odd,
    remove = [...REMOVED, 'True-Client-Ip'],
    protect = 'path /echo* /staff*',
  } = options;
  return `
http://:${port} {
	bind 127.0.0.1
	route {
		@odd expression \`{http.request.uri}.matches(r"${oddPath(odd)}")\`
		respond @odd 400
		${remove.map((name) => `request_header -${name}`).join('\n\t\t')}
		@protected {
			${protect}
		}
		forward_auth @protected ${auth.host} {
			uri ${auth.ask('caddy', service)}
			copy_headers X-Member-Id
		}
		reverse_proxy ${echo}
	}
}`;
}

export function caddyConfiguration(_folder: string, sites: readonly string[]): string {
  return `{\n\tadmin off\n\tauto_https off\n\tgrace_period 1s\n}\n${sites.join('\n')}\n`;
}
