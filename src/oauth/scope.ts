/** RFC 6749 §3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ). Case-sensitive, compared exactly. */
const SCOPE_TOKEN = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

/** A set of scope tokens in the order they were first named. */
export type Scope = ReadonlySet<string>;

/** Whether `value` is one RFC 6749 §3.3 scope-token. */
export function isScopeToken(value: string): boolean {
  return SCOPE_TOKEN.test(value);
}

/**
 * Parses an RFC 6749 §3.3 scope value. Out: the set of tokens ('' gives the empty set), or undefined when the value is
 * not space-delimited scope-tokens (a tab, a quote, a control character).
 */
export function parseScope(value: string): Scope | undefined {
  const tokens = value.split(' ').filter((token) => token !== '');
  return tokens.every(isScopeToken) ? new Set(tokens) : undefined;
}

/** The wire form of a scope: tokens joined by one space. */
export function formatScope(scope: Iterable<string>): string {
  return [...scope].join(' ');
}

/** Whether `granted` holds every token of `needed`. */
export function covers(granted: Scope, needed: Iterable<string>): boolean {
  for (const token of needed) if (!granted.has(token)) return false;
  return true;
}
