/**
 * RFC 8707 resource indicators: the accepted spellings of the gate's resources and their audiences. Real clients send
 * the origin with and without a slash, or the URL of the endpoint that they were given.
 */
export type ResourceIndicators = ReturnType<typeof resourceIndicators>;

export interface ResourcePaths {
  /**
   * Endpoints that belong to the origin's own resource, such as '/account/graphql'. They are spellings of the origin.
   */
  readonly endpoints: readonly string[];
  /** Paths that are resources with an audience of their own. */
  readonly parts: readonly string[];
}

/** `origin` has no trailing slash. */
export function resourceIndicators(origin: string, { endpoints, parts }: ResourcePaths) {
  const audienceByPath = new Map<string, string>();
  const spell = (path: string, audience: string) => {
    for (const spelling of [path, `${path}/`]) audienceByPath.set(spelling, audience);
  };
  for (const path of ['', ...endpoints]) spell(path, origin);
  for (const path of parts) spell(path, `${origin}${path}`);
  const prefix = /^[^/?#]+:\/\/[^/?#]*/;
  return {
    /** The audience of a token for the whole origin. */
    audience: origin,
    /** Every audience that a token can be requested for, the origin first. */
    audiences: [...new Set(audienceByPath.values())],
    /**
     * The audience for `value`; undefined when it is not one of the gate's resources (foreign, relative, or with a
     * fragment or query). Scheme and host are case-insensitive (RFC 3986 section 6.2.2.1).
     */
    audienceOf(value: string): string | undefined {
      const start = prefix.exec(value)?.[0];
      if (start === undefined || start.toLowerCase() !== origin.toLowerCase()) return undefined;
      return audienceByPath.get(value.slice(start.length));
    },
  };
}
