import { ALGORITHMS } from '../signing-key.ts';
import { clientNameProblem, clientUriProblem, softwareProblem } from './client-members.ts';
import { type RedirectPolicy, redirectUrisProblem } from './redirect-uri.ts';

/** Why metadata is refused: an error of RFC 7591 section 3.2.2. */
export interface MetadataProblem {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly description: string;
}

/** Authentication methods: `none` for a public client, `client_secret_post` for a confidential one. */
const METHODS: readonly unknown[] = ['none', 'client_secret_post'];

/** What ID tokens are signed with if the client asks for nothing (OpenID Connect Registration section 2). */
export const DEFAULT_ID_TOKEN_ALGORITHM = 'RS256';

/**
 * The members checked here, in this order; each check returns what is wrong. oidc-provider checks the types of the
 * others. Only `redirect_uris` is required.
 */
const CHECKS: Readonly<Record<string, (value: unknown, policy: RedirectPolicy) => string | undefined>> = {
  redirect_uris: redirectUrisProblem,
  client_name: clientNameProblem,
  client_uri: clientUriProblem,
  logo_uri: clientUriProblem,
  tos_uri: clientUriProblem,
  policy_uri: clientUriProblem,
  software_id: softwareProblem,
  software_version: softwareProblem,
  token_endpoint_auth_method: methodProblem,
  jwks_uri: () => 'must not be sent together with jwks',
};

/**
 * The members that are read, stored and returned. All others are ignored: what oidc-provider would fetch (`jwks_uri`,
 * `sector_identifier_uri`, `request_uris`, `backchannel_*`, `initiate_login_uri`), keys, algorithms other than that of
 * the ID token, software statements, whose issuers are not trusted here, and unknown members.
 */
const KEPT = [
  'client_id',
  'client_name',
  'redirect_uris',
  'client_uri',
  'logo_uri',
  'tos_uri',
  'policy_uri',
  'contacts',
  'response_modes',
  'software_id',
  'software_version',
  'default_max_age',
  'require_auth_time',
  'dpop_bound_access_tokens',
  'require_pushed_authorization_requests',
];

/**
 * Normalises a registration body (RFC 7591 section 2) before it is checked. Real clients omit members, send nulls, and
 * list grants that we do not support. Each of these has one sensible reading, which is defined here only. The response
 * tells the client the result (section 3.2.1).
 */
export function normalizeClientMetadata(body: Record<string, unknown>, scope: string): Record<string, unknown> {
  const sent = (name: string) =>
    Object.hasOwn(body, name) && body[name] !== '' ? (body[name] ?? undefined) : undefined;
  const kept = KEPT.map((name) => [name, sent(name)] as const).filter(([, value]) => value !== undefined);
  const { client_name: name, ...metadata } = Object.fromEntries(kept);
  return {
    ...metadata,
    // Both together are refused (RFC 7591 section 2).
    ...(sent('jwks') === undefined || sent('jwks_uri') === undefined ? {} : { jwks_uri: sent('jwks_uri') }),
    ...(name === undefined ? {} : { client_name: typeof name === 'string' ? name.normalize('NFC') : name }),
    token_endpoint_auth_method: method(sent('token_endpoint_auth_method')),
    id_token_signed_response_alg: algorithm(sent('id_token_signed_response_alg')),
    // The redirect rules of "native" suit every client: https, private-use schemes, and http on loopback with any port
    // (RFC 8252 section 7.3), but no other http, which "web" would allow.
    application_type: 'native',
    grant_types: supported(sent('grant_types'), ['authorization_code', 'refresh_token']),
    response_types: supported(sent('response_types'), ['code']),
    // Registered scope is not a limit, since clients step up later, so all scopes are stored (RFC 7591 section 3.2.1).
    scope,
  };
}

/**
 * Checks client metadata from a registration, a document or the store.
 * @param metadata - the result of `normalizeClientMetadata`
 * @returns the first problem; undefined if there is none
 */
export function clientMetadataProblem(
  metadata: Record<string, unknown>,
  policy: RedirectPolicy,
): MetadataProblem | undefined {
  for (const [member, check] of Object.entries(CHECKS)) {
    const isRedirect = member === 'redirect_uris';
    if (metadata[member] === undefined && !isRedirect) continue;
    const problem = check(metadata[member], policy);
    const error = isRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata';
    if (problem !== undefined) return { error, description: `${member}: ${problem}` };
  }
  return undefined;
}

/**
 * Basic is the default of RFC 7591. Some libraries send it explicitly (LibreChat's MCP client does) and then follow the
 * response. They have a secret to send in either case, so they become `client_secret_post` (section 3.2.1). An omitted
 * method means `none`.
 */
function method(sent: unknown): unknown {
  if (sent === undefined) return 'none';
  return sent === 'client_secret_basic' ? 'client_secret_post' : sent;
}

/** An algorithm that we do not sign with becomes the default (RFC 7591 section 3.2.1). */
function algorithm(sent: unknown): unknown {
  return ALGORITHMS.some((alg) => alg === sent) ? sent : DEFAULT_ID_TOKEN_ALGORITHM;
}

function methodProblem(value: unknown): string | undefined {
  return METHODS.includes(value) ? undefined : 'must be none or client_secret_post';
}

/** Reduces lists to supported values. A list without any is kept, so that it is refused with its own values. */
function supported(value: unknown, served: readonly string[]): unknown {
  if (value === undefined) return served;
  if (!Array.isArray(value)) return value;
  const kept = value.filter((item) => served.includes(item as string));
  return kept.length > 0 ? kept : value;
}
