/** One protected resource (RFC 9728 §2): what a token must be bound to, and where its metadata stands. */
export interface ProtectedResource {
  /** The resource identifier. */
  readonly resource: string;
  /** The path under the origin that it covers; '' for the origin itself. */
  readonly path: string;
  /** The audiences that open it, byte for byte: itself, and the origin it is a part of. */
  readonly audiences: readonly string[];
  /** Absolute URL of the RFC 9728 document that a challenge points to. */
  readonly metadataUrl: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * The resource at a path of an origin. The metadata stands where RFC 9728 §3.1 puts it: the well-known path, with the
 * resource's own path after it. A part can be opened with a token for the whole, and never the other way round.
 */
export function protectedResource(origin: string, path: string): ProtectedResource {
  const resource = `${origin}${path}`;
  return { resource, path, audiences: [...new Set([resource, origin])], metadataUrl: `${origin}${metadataPath(path)}` };
}

/** The path of a resource's RFC 9728 document. */
export function metadataPath(path: string): string {
  return `${WELL_KNOWN}${path}`;
}

/** The innermost of `resources` that covers a route's path pattern; the first of them is the origin and covers all. */
export function resourceOf(
  pattern: string,
  resources: readonly [ProtectedResource, ...ProtectedResource[]],
): ProtectedResource {
  const covering = resources.filter(({ path }) => pattern === path || pattern.startsWith(`${path}/`));
  return covering.reduce((inner, one) => (one.path.length > inner.path.length ? one : inner), resources[0]);
}
