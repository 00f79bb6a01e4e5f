/**
 * Turns a Location an upstream gave into one clients can follow. In: the field value, the upstream's configured URL,
 * our origin. Out: a URL under our origin when it points into the upstream (its path prefix taken off), otherwise the
 * value as it is: a foreign host is the upstream's own business.
 */
export function publicLocation(value: string, upstream: URL, origin: string): string {
  if (!/^([a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(value))
    return value.startsWith('/') ? outside(value, upstream, origin) : value;
  if (!URL.canParse(value, upstream.href)) return value;
  const url = new URL(value, upstream.href);
  if (!/^https?:$/.test(url.protocol) || !isSamePlace(url, upstream)) return value;
  return origin + stripPrefix(url.pathname + url.search + url.hash, upstream);
}

/** `/base//evil.example` without `/base` would name a host; with our origin before it, it stays a path. */
function outside(path: string, upstream: URL, origin: string): string {
  const stripped = stripPrefix(path, upstream);
  return /^[/\\]{2}/.test(stripped) ? origin + stripped : stripped;
}

function stripPrefix(path: string, upstream: URL): string {
  const prefix = pathPrefix(upstream);
  if (prefix === '' || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  return rest.startsWith('/') ? rest : /^([?#]|$)/.test(rest) ? `/${rest}` : path;
}

/** The scheme is not compared: a backend behind TLS termination names itself with either. */
function isSamePlace(url: URL, upstream: URL): boolean {
  const port = (of: URL) => of.port || (upstream.port === '' ? '' : of.protocol === 'https:' ? '443' : '80');
  if (port(url) !== port(upstream)) return false;
  return url.hostname === upstream.hostname || (isLoopback(url.hostname) && isLoopback(upstream.hostname));
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** The path of an upstream's URL, without a final slash: what goes before every target. */
export function pathPrefix(upstream: URL): string {
  return upstream.pathname.replace(/\/+$/, '');
}
