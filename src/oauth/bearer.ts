/** What a request's Authorization header(s) present. The parse never throws: bad input is a value. */
export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'bearer'; readonly token: string };

/** RFC 6750 §2.1: b64token. */
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const LONGEST_TOKEN = 4096;

/**
 * Parses Authorization header fields (RFC 9110 §11.4, RFC 6750 §2.1). In: every Authorization field value of the
 * request, in order. Out: credentials as a value. The scheme is compared without case; more than one field, a field
 * that is not one b64token, and any other scheme are malformed.
 */
export function parseAuthorization(values: readonly string[]): Credentials {
  if (values.length === 0) return { kind: 'none' };
  if (values.length > 1) return { kind: 'malformed', reason: 'more than one Authorization header' };
  const value = values[0] ?? '';
  const space = value.indexOf(' ');
  const scheme = (space === -1 ? value : value.slice(0, space)).toLowerCase();
  if (scheme !== 'bearer') return { kind: 'malformed', reason: 'the Authorization scheme is not Bearer' };
  const token = space === -1 ? '' : value.slice(space + 1).trim();
  if (token.length > LONGEST_TOKEN || !B64TOKEN.test(token)) {
    return { kind: 'malformed', reason: 'the Authorization header does not hold one bearer token' };
  }
  return { kind: 'bearer', token };
}
