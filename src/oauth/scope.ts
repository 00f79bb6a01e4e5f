/** scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), case-sensitive (RFC 6749 section 3.3). */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** The scope that every token for the Account API needs, whatever the document. */
export const ACCOUNT_SCOPE = 'account:read';

/** A set of scope tokens, in the order of their first occurrence. */
export type Scope = ReadonlySet<string>;

/** Whether `value` is a single scope-token (RFC 6749 section 3.3). */
export function isScopeToken(value: string): boolean {
  return SCOPE_TOKEN.test(value);
}

/**
 * Parses a scope value (RFC 6749 section 3.3); '' gives the empty set. Undefined when the value is not a list of
 * scope-tokens separated by spaces.
 */
export function parseScope(value: string): Scope | undefined {
  const tokens = value.split(' ').filter((token) => token !== '');
  return tokens.every(isScopeToken) ? new Set(tokens) : undefined;
}

/** The wire form of a scope: tokens joined by one space. */
export function formatScope(scope: Iterable<string>): string {
  return [...scope].join(' ');
}

/** Whether `granted` contains every token of `needed`. */
export function covers(granted: Scope, needed: Iterable<string>): boolean {
  for (const token of needed) if (!granted.has(token)) return false;
  return true;
}
