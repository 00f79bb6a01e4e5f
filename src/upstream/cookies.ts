import { stripPrefix } from './location.ts';

/**
 * Removes cookies from a Cookie field value (RFC 6265 section 5.4). The rest is kept byte for byte; '' if nothing is
 * left.
 * @param isRemoved returns whether the cookie of this name is removed
 */
export function withoutCookies(value: string, isRemoved: (name: string) => boolean): string {
  const pairs = value.split(';');
  const rest = pairs.filter((pair) => !isRemoved(cookieName(pair)));
  return rest.length === pairs.length ? value : rest.join(';').replace(/^[ \t]+/, '');
}

/**
 * The name in one `name=value` of a Cookie value, or in a whole Set-Cookie value (RFC 6265 section 5.2). `=name=value`
 * has an empty name, but browsers send it back as `name=value`, so that name counts.
 */
export function cookieName(pair: string): string {
  const named = pair.replace(/^[\s=]+/, '');
  const end = named.search(/[=;]/);
  return (end === -1 ? named : named.slice(0, end)).trim();
}

/**
 * Rewrites an upstream's Set-Cookie value so that browsers keep the cookie for our origin. Removes a Domain that names
 * the upstream's own host, rewrites Path to the path that clients know, and leaves the rest byte for byte.
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
