/**
 * Turns an upstream's Location into one that clients can follow. Returns a URL under our origin if it points into an
 * upstream, with the upstream's path prefix removed. Otherwise the value is returned as it is: redirects to other hosts
 * are up to the upstream.
 * @param internal the URLs by which upstreams refer to themselves, first that of the upstream that responds
 */
export function publicLocation(value: string, internal: readonly [URL, ...URL[]], origin: string): string {
  const [own] = internal;
  if (!/^([a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(value))
    return value.startsWith('/') ? outside(value, own, origin) : value;
  if (!URL.canParse(value, own.href)) return value;
  const url = new URL(value, own.href);
  if (!/^https?:$/.test(url.protocol)) return value;
  const place =
    internal.find((upstream) => isSamePlace(url, upstream)) ?? (isUnreachable(url, origin) ? own : undefined);
  return place === undefined ? value : origin + stripPrefix(url.pathname + url.search + url.hash, place);
}

/** Applies `publicLocation` to each target of a Link field (RFC 8288 section 3). */
export function publicLink(value: string, internal: readonly [URL, ...URL[]], origin: string): string {
  return value.replace(/<([^<>]*)>/g, (_, target: string) => `<${publicLocation(target.trim(), internal, origin)}>`);
}

/** Applies `publicLocation` to the URL of a Refresh field (WHATWG HTML section 4.2.5.3): `5; url=…`, quoted or not. */
export function publicRefresh(value: string, internal: readonly [URL, ...URL[]], origin: string): string {
  const [, before, target, after] = /^([\d.\s]*[;,]?\s*(?:url\s*=\s*)?["']?)([^"']*)(.*)$/is.exec(value) ?? [];
  return target === undefined || target === '' ? value : before + publicLocation(target, internal, origin) + after;
}

/** Without `/base`, `/base//evil.example` would name a host. With our origin in front it remains a path. */
function outside(path: string, upstream: URL, origin: string): string {
  const stripped = stripPrefix(path, upstream);
  return /^[/\\]{2}/.test(stripped) ? origin + stripped : stripped;
}

/** Removes the path of the upstream's URL from the beginning of `path`, which may include a query and a fragment. */
export function stripPrefix(path: string, upstream: URL): string {
  const prefix = pathPrefix(upstream);
  if (prefix === '' || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  return rest.startsWith('/') ? rest : /^([?#]|$)/.test(rest) ? `/${rest}` : path;
}

/** The scheme is not compared: a backend behind TLS termination may refer to itself with either. */
function isSamePlace(url: URL, upstream: URL): boolean {
  const port = (of: URL) => of.port || (upstream.port === '' ? '' : of.protocol === 'https:' ? '443' : '80');
  if (port(url) !== port(upstream)) return false;
  return url.hostname === upstream.hostname || (isLoopback(url.hostname) && isLoopback(upstream.hostname));
}

/** A remote client can never reach the upstream's own machine as localhost, whatever the port. */
function isUnreachable(url: URL, origin: string): boolean {
  return isLoopback(url.hostname) && !isLoopback(new URL(origin).hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** The path of an upstream's URL without a final slash: the prefix of every target. */
export function pathPrefix(upstream: URL): string {
  return upstream.pathname.replace(/\/+$/, '');
}
