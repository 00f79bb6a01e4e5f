/** An address by which an upstream refers to itself. */
export interface UpstreamAddress {
  /** The upstream's key in `upstreams`. */
  readonly upstream: string;
  readonly url: URL;
}

/** What the references in a response are compared with. */
export interface Addresses {
  /** The addresses of the upstream that responds come first, and of these the configured one. */
  readonly internal: readonly [UpstreamAddress, ...UpstreamAddress[]];
  /** Our public origin. */
  readonly origin: string;
}

/** Returns the reference that clients can follow; the same string if it is one already. */
export type ToPublic = (reference: string) => string;

const WITH_AUTHORITY = /^([a-z][a-z0-9+.-]*:|[/\\]{2})/i;

/** Whether a reference has a scheme or a host, so that it means the same whatever document it is found in. */
export function isComplete(reference: string): boolean {
  return WITH_AUTHORITY.test(reference);
}

/**
 * Turns an upstream's Location into one that clients can follow. Returns a URL under our origin if it points into an
 * upstream, with the upstream's path prefix removed. Otherwise the value is returned as it is: redirects to other hosts
 * are up to the upstream.
 */
export function publicLocation(value: string, addresses: Addresses): string {
  const { internal, origin } = addresses;
  const [own] = internal;
  if (!isComplete(value)) return value.startsWith('/') ? withOrigin(stripPrefix(value, own.url), origin) : value;
  if (!URL.canParse(value, own.url.href)) return value;
  const url = new URL(value, own.url.href);
  if (!/^https?:$/.test(url.protocol)) return value;
  const place = placeOf(url, addresses);
  return place === undefined ? value : origin + stripPrefix(url.pathname + url.search + url.hash, place.url);
}

/**
 * Applies `toPublic` to the target of each link in a Link field, and keeps everything else byte for byte (RFC 8288
 * section 3). A `<` in a quoted parameter begins no link.
 */
export function publicLink(value: string, toPublic: ToPublic): string {
  let result = '';
  let done = 0;
  let quoted = false;
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at];
    if (character === '"') quoted = !quoted;
    else if (character === '\\' && quoted) at += 1;
    else if (character === '<' && !quoted) {
      const end = value.indexOf('>', at);
      if (end === -1) break;
      const target = value.slice(at + 1, end).trim();
      const mapped = toPublic(target);
      if (mapped !== target) {
        result += `${value.slice(done, at + 1)}${mapped}`;
        done = end;
      }
      at = end;
    }
  }
  return result + value.slice(done);
}

/** Applies `toPublic` to the URL of a Refresh field (WHATWG HTML section 4.2.5.3): `5; url=…`, quoted or not. */
export function publicRefresh(value: string, toPublic: ToPublic): string {
  const [, before, target, after] = /^([\d.\s]*[;,]?\s*(?:url\s*=\s*)?["']?)([^"']*)(.*)$/is.exec(value) ?? [];
  return target === undefined || target === '' ? value : before + toPublic(target) + after;
}

/** Without `/base`, `/base//evil.example` would name a host. With our origin in front it remains a path. */
export function withOrigin(path: string, origin: string): string {
  return /^[/\\]{2}/.test(path) ? origin + path : path;
}

/** Removes the path of the upstream's URL from the beginning of `path`, which may include a query and a fragment. */
export function stripPrefix(path: string, upstream: URL): string {
  const prefix = pathPrefix(upstream);
  if (prefix === '' || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  return rest.startsWith('/') ? rest : /^([?#]|$)/.test(rest) ? `/${rest}` : path;
}

/** The upstream that a URL points into; undefined for other hosts. */
export function placeOf(url: URL, { internal, origin }: Addresses): UpstreamAddress | undefined {
  return (
    internal.find((address) => isSamePlace(url, address.url)) ?? (isUnreachable(url, origin) ? internal[0] : undefined)
  );
}

/** The scheme is not compared: a backend behind TLS termination may refer to itself with either. */
export function isSamePlace(url: URL, address: URL): boolean {
  const port = (of: URL) => of.port || (address.port === '' ? '' : of.protocol === 'https:' ? '443' : '80');
  if (port(url) !== port(address)) return false;
  return url.hostname === address.hostname || (isLoopback(url.hostname) && isLoopback(address.hostname));
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
