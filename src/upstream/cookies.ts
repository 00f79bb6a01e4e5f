import { stripPrefix } from './location.ts';

/**
 * Takes cookies out of a Cookie field value (RFC 6265 §5.4). In: the value and which names to take out. Out: the rest,
 * byte for byte; '' when nothing is left.
 */
export function withoutCookies(value: string, taken: (name: string) => boolean): string {
  const pairs = value.split(';');
  const kept = pairs.filter((pair) => !taken(cookieName(pair)));
  return kept.length === pairs.length ? value : kept.join(';').replace(/^[ \t]+/, '');
}

/**
 * The name in one `name=value` of a Cookie value, or in a whole Set-Cookie value (RFC 6265 §5.2). Of `=name=value`, which
 * has none, a browser sends back `name=value`, so that counts.
 */
export function cookieName(pair: string): string {
  const named = pair.replace(/^[\s=]+/, '');
  const end = named.search(/[=;]/);
  return (end === -1 ? named : named.slice(0, end)).trim();
}

/**
 * A cookie of an upstream, so that browsers keep it for us. In: a Set-Cookie value and the upstream's URL. Out: the same
 * byte for byte, without a Domain that names the upstream's own host, and with the Path that clients know.
 */
export function publicCookie(value: string, upstream: URL): string {
  if (!/;\s*(domain|path)\s*=/i.test(value)) return value;
  const parts = value.split(';').flatMap((part, at) => {
    const [, before = '', name, given = ''] = /^(\s*(domain|path)\s*=\s*)(.*?)\s*$/i.exec(part) ?? [];
    if (at === 0 || name === undefined) return [part];
    if (name.toLowerCase() === 'path') return [before + stripPrefix(given, upstream)];
    return given.replace(/^\./, '').toLowerCase() === upstream.hostname ? [] : [part];
  });
  return parts.join(';');
}
