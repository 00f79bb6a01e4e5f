import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import { type Addresses, isComplete, isSamePlace, pathPrefix, placeOf, stripPrefix, withOrigin } from './location.ts';
import { MEMBER_ID, routedBy } from './own-record.ts';
import { createRewrite, type Rewrite } from './rewrite.ts';
import { createRouting, type Routing } from './routing.ts';
import { canonicalPath } from './target.ts';

/** The request whose response contains the references. */
interface Answered {
  readonly addresses: Addresses;
  readonly principal: Principal;
  readonly method: string;
  /** The canonical path that the client asked for. */
  readonly path: string;
  /** The canonical path that the upstream was asked for, without the path of its URL. */
  readonly at: string;
}

/** Makes the references in one response public. */
interface Links {
  /** For a reference in a header field. Undefined if no route leads there. */
  reference(reference: string): string | undefined;
  /**
   * For a string in JSON. Undefined unless it is a complete URL, or an absolute path under the literal beginning of a
   * route's upstream paths, and a route leads there.
   */
  text(text: string): string | undefined;
}

/** How the references in the responses of one route are made public. */
export interface RouteLinks {
  /** Whether those in JSON bodies are, too. */
  readonly inBodies: boolean;
  of(answered: Answered): Links;
}

/** A route, backwards. */
type Way = ReturnType<typeof wayOf>;

interface Inverse {
  readonly routing: Routing<RouteConfig>;
  /** In the order of the configuration. */
  readonly ways: ReadonlyMap<RouteConfig, Way>;
}

/** Finds the public path for a canonical path of an upstream. `literal`: only by routes that have a literal beginning. */
type PublicPath = (upstream: string, path: string, literal: boolean) => string | undefined;

/** A complete URL, or an absolute path, with nothing around it. */
const LINK = /^(?:https?:\/\/|\/(?![/\\]))[^\s\p{Cc}\p{Cs}\uFFFD]*$/iu;

/**
 * Inverts the routes. Several may lead to the same path of an upstream: the one that was asked comes first, then the
 * others in the order of the configuration. A route leads there only if a GET of the public path, or a request with the
 * method that was asked, is forwarded by this route to exactly that path: an earlier route may take a part of its paths.
 * The returned function is undefined for a route that needs no mapping.
 */
export function createRouteLinks(routes: readonly RouteConfig[]): (entry: RouteConfig) => RouteLinks | undefined {
  let inverse: Inverse | undefined;
  return (entry) => {
    if (entry.rewrite === undefined && entry.rewriteLinks !== true) return undefined;
    inverse ??= {
      routing: createRouting(routes.map((value) => ({ ...routedBy(value), value }))),
      ways: new Map(routes.map((one) => [one, wayOf(one)])),
    };
    return { inBodies: entry.rewriteLinks === true, of: linksOf(inverse, entry) };
  };
}

function linksOf({ routing, ways }: Inverse, entry: RouteConfig): RouteLinks['of'] {
  return (answered) => {
    const publicPath: PublicPath = (upstream, path, literal) => {
      for (const way of inOrder(ways, entry)) {
        if (way.entry.upstream !== upstream || (literal && way.prefix === '')) continue;
        const found = path.startsWith(way.prefix) ? backThrough(way, path, answered, routing) : undefined;
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return {
      reference: (reference) => publicReference(reference, answered, publicPath),
      text: (text) => (LINK.test(text) ? publicReference(text, answered, publicPath, text.startsWith('/')) : undefined),
    };
  };
}

function* inOrder(ways: ReadonlyMap<RouteConfig, Way>, first: RouteConfig): Iterable<Way> {
  const own = ways.get(first);
  if (own !== undefined) yield own;
  for (const way of ways.values()) if (way !== own) yield way;
}

function wayOf(entry: RouteConfig) {
  const { pattern } = parseMatch(entry.match);
  const rewrite = entry.rewrite ?? pattern;
  const literal = rewrite.split('/').findIndex((segment) => segment.startsWith('*') || segment === MEMBER_ID);
  const prefix = rewrite.split('/').slice(0, literal === -1 ? undefined : literal);
  return {
    entry,
    /** The literal beginning of every upstream path of the route; '' if there is none. */
    prefix: canonicalPath(prefix.join('/').replace(/[^\x21-\x7E]+/g, encodeURIComponent)) ?? '',
    rewriteFor: createRewrite(pattern, rewrite),
  };
}

function backThrough(
  way: Way,
  path: string,
  { principal, method }: Answered,
  routing: Routing<RouteConfig>,
): string | undefined {
  const rewrite = rewriteOf(way, principal);
  const found = rewrite?.outward(path);
  if (rewrite === undefined || found === undefined || rewrite.inward(found) !== path) return undefined;
  const isRouted = (asked: string) => {
    const result = routing(asked, found);
    return result.kind === 'route' && result.route.value === way.entry;
  };
  return isRouted('GET') || isRouted(method) ? found : undefined;
}

/** Undefined where the route needs a member's id, and there is none that can be part of a path. */
function rewriteOf({ rewriteFor }: Way, principal: Principal): Rewrite | undefined {
  try {
    return rewriteFor(principal);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}

/**
 * Resolves a reference as the upstream means it, against the address that it was asked for, and returns the public
 * address, with the query and fragment as they are: absolute if the reference is, otherwise a path. The reference is
 * returned unchanged if the client finds the same by itself.
 */
function publicReference(
  reference: string,
  { addresses, path: asked, at }: Answered,
  publicPath: PublicPath,
  literal = false,
): string | undefined {
  const { origin, internal } = addresses;
  const [own] = internal;
  // The query of a URI template begins with `{?` (RFC 6570).
  const cut = reference.search(/\{?[?#]/);
  const front = cut === -1 ? reference : reference.slice(0, cut);
  const base = own.url.origin + pathPrefix(own.url) + at;
  if (front === '' || !URL.canParse(front, base)) return undefined;
  const url = new URL(front, base);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  const complete = isComplete(front);
  const place = complete ? (placeOf(url, addresses) ?? (isSamePlace(url, new URL(origin)) ? own : undefined)) : own;
  if (place === undefined) return undefined;
  const internalPath = stripPrefix(url.pathname, place.url);
  const canonical = canonicalPath(internalPath);
  const found = canonical === undefined ? undefined : publicPath(place.upstream, canonical, literal);
  // A relative reference that no route covers would lead the client to another address than the upstream means.
  const there = found ?? (complete || front.startsWith('/') ? undefined : internalPath);
  if (there === undefined) return undefined;
  if (new URL(front, origin + asked).href === new URL(origin + there).href) return reference;
  const readable = front.includes('{') ? there.replace(/%7B/g, '{').replace(/%7D/g, '}') : there;
  return (complete ? origin + readable : withOrigin(readable, origin)) + (cut === -1 ? '' : reference.slice(cut));
}
