/**
 * RFC 7591 §2: what a registration body means before oidc-provider judges it. Real clients leave members out, send
 * nulls, and list grants that we do not serve; each of those has one sensible reading, given here once.
 */
export function normalizeClientMetadata(body: Record<string, unknown>, scope: string): Record<string, unknown> {
  const metadata = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
  return {
    ...metadata,
    // The stock default, client_secret_basic, is a method that we do not take.
    token_endpoint_auth_method: metadata.token_endpoint_auth_method ?? 'none',
    // Native is the type whose redirect rules are right for everyone: https, private-use schemes, and http on loopback
    // with any port (RFC 8252 §7.3), but never http elsewhere, which "web" would let through.
    application_type: 'native',
    grant_types: supported(metadata.grant_types, ['authorization_code', 'refresh_token']),
    response_types: supported(metadata.response_types, ['code']),
    // Registered scope is not a ceiling (clients step up later), so all of it is stored (RFC 7591 §3.2.1).
    scope,
  };
}

/** Lists are cut to what is served; a list of nothing that is served stays, and is refused by name. */
function supported(value: unknown, served: readonly string[]): unknown {
  if (value === undefined) return served;
  if (!Array.isArray(value)) return value;
  const kept = value.filter((item) => served.includes(item as string));
  return kept.length > 0 ? kept : value;
}
