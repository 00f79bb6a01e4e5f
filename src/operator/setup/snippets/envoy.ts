import { DECISION_PATHS } from '../../../decisions/protocol.ts';
import { credentials, DECISIONS, envoyBootstrap, exactly, SET_BY_DECISIONS } from './envoy-bootstrap.ts';
import { DECISION_LIMITS, type PluginOptions, type SnippetFile } from './plugin-options.ts';

/** Envoy's static configuration with ext_authz over HTTP. */
export function envoy(options: PluginOptions): readonly SnippetFile[] {
  const { address } = options.decisions;
  const filter = `# All fields, so that coursegate can say which of them the backend must not get; but not how the body is framed.
allowed_headers: { patterns: [{ safe_regex: { regex: ".*" } }] }
disallowed_headers: ${exactly(['transfer-encoding', 'te', 'trailer', 'expect', 'connection', 'upgrade'])}
http_service:
  server_uri: { uri: "http://coursegate", cluster: ${DECISIONS}, timeout: ${DECISION_LIMITS.answer}s }
  path_prefix: ${DECISION_PATHS.envoy}
  authorization_request: { headers_to_add: ${credentials(options)} }
  authorization_response:
    allowed_upstream_headers: ${exactly(SET_BY_DECISIONS)}
    allowed_client_headers: ${exactly([...REFUSAL_FIELDS, ...ALWAYS])}
    allowed_client_headers_on_success: ${exactly(ALWAYS)}`;
  return [{ name: 'envoy.yaml', text: envoyBootstrap(options, { address, filter, http2: false }) }];
}

/** Fields of every response on a route: where the gate has no limits or CORS, they are missing. */
export const ALWAYS = [
  ...['x-request-id', 'ratelimit', 'ratelimit-policy', 'access-control-allow-origin', 'access-control-expose-headers'],
];

/** Fields that a refusal may have besides. */
export const REFUSAL_FIELDS = [
  ...[
    'www-authenticate',
    'retry-after',
    'content-type',
    'content-language',
    'cache-control',
    'allow',
    'dpop-nonce',
    'vary',
  ],
];
