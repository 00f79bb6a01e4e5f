/**
 * Turns a Location an upstream gave into one clients can follow. In: the field value, the URLs by which upstreams call
 * themselves, the one that answers first, and our origin. Out: a URL under our origin when it points into an upstream
 * (its path prefix taken off), otherwise the value as it is: a foreign host is the upstream's own business.
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

/** The same for each target of a Link field (RFC 8288 §3). */
export function publicLink(value: string, internal: readonly [URL, ...URL[]], origin: string): string {
  return value.replace(/<([^<>]*)>/g, (_, target: string) => `<${publicLocation(target.trim(), internal, origin)}>`);
}

/** The same for the URL of a Refresh field (WHATWG HTML §4.2.5.3): `5; url=…`, quoted or not. */
export function publicRefresh(value: string, internal: readonly [URL, ...URL[]], origin: string): string {
  const [, before, target, after] = /^([\d.\s]*[;,]?\s*(?:url\s*=\s*)?["']?)([^"']*)(.*)$/is.exec(value) ?? [];
  return target === undefined || target === '' ? value : before + publicLocation(target, internal, origin) + after;
}

/** `/base//evil.example` without `/base` would name a host; with our origin before it, it stays a path. */
function outside(path: string, upstream: URL, origin: string): string {
  const stripped = stripPrefix(path, upstream);
  return /^[/\\]{2}/.test(stripped) ? origin + stripped : stripped;
}

/** In: a path, with whatever follows it. Out: the same without the path of the upstream's URL before it. */
export function stripPrefix(path: string, upstream: URL): string {
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

/** No client elsewhere means the upstream's own machine when it says localhost, whatever the port. */
function isUnreachable(url: URL, origin: string): boolean {
  return isLoopback(url.hostname) && !isLoopback(new URL(origin).hostname);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}

/** The path of an upstream's URL, without a final slash: what goes before every target. */
export function pathPrefix(upstream: URL): string {
  return upstream.pathname.replace(/\/+$/, '');
}
