/** How an access token may be shown: by whoever holds it (RFC 6750), or with proof of a key (RFC 9449). */
export type Scheme = 'Bearer' | 'DPoP';

/** What a request's Authorization header(s) present. The parse never throws: bad input is a value. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed'; readonly scheme: Scheme; readonly reason: string }
  | { readonly kind: 'token'; readonly scheme: Scheme; readonly token: string };

/** RFC 6750 §2.1: b64token; RFC 9449 §7.1: token68, which is the same. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const LONGEST_TOKEN = 4096;

/**
 * Parses Authorization header fields (RFC 9110 §11.4). In: every Authorization field value of the request, in order.
 * Out: credentials as a value. The scheme is compared without case; more than one field, a field that is not one token,
 * and any other scheme are malformed.
 */
export function parseAuthorization(values: readonly string[]): Credentials {
  const value = values[0];
  if (value === undefined) return { kind: 'none' };
  const space = value.indexOf(' ');
  const name = (space === -1 ? value : value.slice(0, space)).toLowerCase();
  const scheme = name === 'dpop' ? 'DPoP' : 'Bearer';
  if (values.length > 1) return { kind: 'malformed', scheme, reason: 'more than one Authorization header' };
  if (name !== scheme.toLowerCase()) {
    return { kind: 'malformed', scheme, reason: 'the Authorization scheme is neither Bearer nor DPoP' };
  }
  const token = space === -1 ? '' : value.slice(space + 1).trim();
  if (token.length > LONGEST_TOKEN || !TOKEN.test(token)) {
    return { kind: 'malformed', scheme, reason: 'the Authorization header does not hold one access token' };
  }
  return { kind: 'token', scheme, token };
}
