import { clientNameProblem } from './client-name.ts';
import { clientUriProblem } from './client-uris.ts';
import { type RedirectPolicy, redirectUrisProblem } from './redirect-uri.ts';
import { softwareProblem } from './software.ts';

/** Why metadata is refused: an error of RFC 7591 §3.2.2. */
export interface MetadataProblem {
  readonly error: 'invalid_redirect_uri' | 'invalid_client_metadata';
  readonly description: string;
}

interface Rule {
  readonly member: string;
  readonly error: MetadataProblem['error'];
  readonly problem: (value: unknown, policy: RedirectPolicy) => string | undefined;
  readonly required?: true;
}

/** How a client may authenticate: `none` for a public one, `client_secret_post` for a confidential one. */
const METHODS: readonly unknown[] = ['none', 'client_secret_post'];

/** What is judged, in this order. The rest is judged by oidc-provider, by type. */
const RULES: readonly Rule[] = [
  { member: 'redirect_uris', error: 'invalid_redirect_uri', problem: redirectUrisProblem, required: true },
  { member: 'client_name', error: 'invalid_client_metadata', problem: clientNameProblem },
  { member: 'client_uri', error: 'invalid_client_metadata', problem: clientUriProblem },
  { member: 'logo_uri', error: 'invalid_client_metadata', problem: clientUriProblem },
  { member: 'tos_uri', error: 'invalid_client_metadata', problem: clientUriProblem },
  { member: 'policy_uri', error: 'invalid_client_metadata', problem: clientUriProblem },
  { member: 'software_id', error: 'invalid_client_metadata', problem: softwareProblem },
  { member: 'software_version', error: 'invalid_client_metadata', problem: softwareProblem },
  { member: 'token_endpoint_auth_method', error: 'invalid_client_metadata', problem: methodProblem },
];

/**
 * The members that are read, stored and told back. All others are as if they had not been sent: what oidc-provider would
 * fetch (`jwks_uri`, `sector_identifier_uri`, `request_uris`, `backchannel_*`, `initiate_login_uri`), keys and algorithms
 * (ID tokens are ES256), software statements, whose issuers nobody here trusts, and what no server knows.
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
 * RFC 7591 §2: what a registration body means before it is judged. Real clients leave members out, send nulls, and list
 * grants that we do not serve; each of those has one sensible reading, given here once. The answer says what was made of
 * it (§3.2.1).
 */
export function normalizeClientMetadata(body: Record<string, unknown>, scope: string): Record<string, unknown> {
  const sent = (name: string) =>
    Object.hasOwn(body, name) && body[name] !== '' ? (body[name] ?? undefined) : undefined;
  const kept = KEPT.map((name) => [name, sent(name)] as const).filter(([, value]) => value !== undefined);
  const { client_name: name, ...metadata } = Object.fromEntries(kept);
  return {
    ...metadata,
    ...(name === undefined ? {} : { client_name: typeof name === 'string' ? name.normalize('NFC') : name }),
    token_endpoint_auth_method: method(sent('token_endpoint_auth_method')),
    // Native is the type whose redirect rules are right for everyone: https, private-use schemes, and http on loopback
    // with any port (RFC 8252 §7.3), but never http elsewhere, which "web" would let through.
    application_type: 'native',
    grant_types: supported(sent('grant_types'), ['authorization_code', 'refresh_token']),
    response_types: supported(sent('response_types'), ['code']),
    // Registered scope is not a ceiling (clients step up later), so all of it is stored (RFC 7591 §3.2.1).
    scope,
  };
}

/**
 * Judges what a client says of itself, registered or published as a document. In: metadata that
 * `normalizeClientMetadata` has read, or that is stored. Out: the first problem, undefined when there is none.
 */
export function judgeClientMetadata(
  metadata: Record<string, unknown>,
  policy: RedirectPolicy,
): MetadataProblem | undefined {
  for (const { member, error, problem, required } of RULES) {
    const value = metadata[member];
    if (value === undefined && required === undefined) continue;
    const found = problem(value, policy);
    if (found !== undefined) return { error, description: `${member}: ${found}` };
  }
  return undefined;
}

/**
 * RFC 7591 §3.2.1: Basic is the RFC's default, which some libraries write out (LibreChat's MCP client does) and then
 * follow the answer. They have a secret to send either way, so they become `client_secret_post`. Left out, it is `none`.
 */
function method(sent: unknown): unknown {
  if (sent === undefined) return 'none';
  return sent === 'client_secret_basic' ? 'client_secret_post' : sent;
}

function methodProblem(value: unknown): string | undefined {
  return METHODS.includes(value) ? undefined : 'must be none or client_secret_post';
}

/** Lists are cut to what is served; a list of nothing that is served stays, and is refused by name. */
function supported(value: unknown, served: readonly string[]): unknown {
  if (value === undefined) return served;
  if (!Array.isArray(value)) return value;
  const kept = value.filter((item) => served.includes(item as string));
  return kept.length > 0 ? kept : value;
}
