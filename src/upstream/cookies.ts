/**
 * Takes cookies out of a Cookie field value (RFC 6265 §5.4). In: the value and which names to take out. Out: the rest,
 * byte for byte; '' when nothing is left.
 */
export function withoutCookies(value: string, taken: (name: string) => boolean): string {
  const pairs = value.split(';');
  const kept = pairs.filter((pair) => !taken(cookieName(pair)));
  return kept.length === pairs.length ? value : kept.join(';').replace(/^[ \t]+/, '');
}

/** The name in one `name=value` of a Cookie value, or in a whole Set-Cookie value (RFC 6265 §5.2). */
export function cookieName(pair: string): string {
  const end = pair.search(/[=;]/);
  return (end === -1 ? pair : pair.slice(0, end)).trim();
}
