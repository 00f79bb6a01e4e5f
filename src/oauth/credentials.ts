/** How an access token is presented: as a bearer token (RFC 6750), or with proof of a key (RFC 9449). */
export type Scheme = 'Bearer' | 'DPoP';

/** The parsed Authorization fields of a request. Invalid input is a value, not an error. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed'; readonly scheme: Scheme; readonly reason: string }
  | { readonly kind: 'token'; readonly scheme: Scheme; readonly token: string };

/** b64token of RFC 6750 section 2.1, which equals token68 of RFC 9449 section 7.1. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const LONGEST_TOKEN = 4096;

/** The scheme of a request's token; Bearer if it has none. A challenge uses the same one (RFC 9449 section 7.1). */
export function schemeOf(authorization: readonly string[]): Scheme {
  const shown = parseAuthorization(authorization);
  return shown.kind === 'none' ? 'Bearer' : shown.scheme;
}

/**
 * Parses every Authorization field of a request, in order (RFC 9110 section 11.4). The scheme is case-insensitive. More
 * than one field, a field without exactly one token, and any other scheme are malformed.
 */
export function parseAuthorization(values: readonly string[]): Credentials {
  const value = values[0];
  if (value === undefined) return { kind: 'none' };
  const space = value.indexOf(' ');
  const name = (space === -1 ? value : value.slice(0, space)).toLowerCase();
  const scheme = name === 'dpop' ? 'DPoP' : 'Bearer';
  if (values.length > 1) return { kind: 'malformed', scheme, reason: 'more than one Authorization header' };
  if (name !== scheme.toLowerCase())
    return { kind: 'malformed', scheme, reason: 'the Authorization scheme is neither Bearer nor DPoP' };
  const token = space === -1 ? '' : value.slice(space + 1).trim();
  if (token.length > LONGEST_TOKEN || !TOKEN.test(token))
    return { kind: 'malformed', scheme, reason: 'the Authorization header does not hold one access token' };
  return { kind: 'token', scheme, token };
}
