/** A protected resource (RFC 9728 section 2): the audience that tokens need, and where its metadata is served. */
export interface ProtectedResource {
  /** The resource identifier. */
  readonly resource: string;
  /** The path prefix that it covers; '' for the whole origin. */
  readonly path: string;
  /** The accepted audiences, compared exactly: the resource itself, and the origin that contains it. */
  readonly audiences: readonly string[];
  /** Absolute URL of the RFC 9728 metadata, for challenges. */
  readonly metadataUrl: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * The resource at a path of an origin. Its metadata is at the well-known path followed by the resource's own path (RFC
 * 9728 section 3.1). A token for the whole origin is accepted by a part of it, but not the other way round.
 */
export function protectedResource(origin: string, path: string): ProtectedResource {
  const resource = `${origin}${path}`;
  return { resource, path, audiences: [...new Set([resource, origin])], metadataUrl: `${origin}${metadataPath(path)}` };
}

/** The path of a resource's RFC 9728 metadata. */
export function metadataPath(path: string): string {
  return `${WELL_KNOWN}${path}`;
}

/** The most specific resource that covers a route's path pattern. The first is the origin, which covers everything. */
export function resourceOf(
  pattern: string,
  resources: readonly [ProtectedResource, ...ProtectedResource[]],
): ProtectedResource {
  const covering = resources.filter(({ path }) => pattern === path || pattern.startsWith(`${path}/`));
  return covering.reduce((inner, one) => (one.path.length > inner.path.length ? one : inner), resources[0]);
}
