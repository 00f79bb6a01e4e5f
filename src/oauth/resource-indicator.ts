/**
 * RFC 8707 resource indicators: which spellings of our resources we take, and what each one means.
 * Real clients send the origin with and without a slash, or the URL of the door they came through.
 */
export interface ResourceIndicators {
  /** The audience of a token for everything: the origin. */
  readonly audience: string;
  /** Every audience a token may be asked for, the origin first. */
  readonly audiences: readonly string[];
  /**
   * Out: the audience that `value` names, or undefined when it names nothing of ours (foreign, relative, with a
   * fragment or a query). Scheme and host are compared without case (RFC 3986 §6.2.2.1).
   */
  audienceOf(value: string): string | undefined;
}

export interface ResourcePaths {
  /** Doors of the origin's own resource: another spelling of the origin, e.g. '/account/graphql'. */
  readonly doors: readonly string[];
  /** Paths that are resources of their own, with an audience of their own. */
  readonly parts: readonly string[];
}

/** In: the origin (no trailing slash) and the paths that mean something under it. */
export function resourceIndicators(origin: string, { doors, parts }: ResourcePaths): ResourceIndicators {
  const audienceByPath = new Map<string, string>();
  const spell = (path: string, audience: string) => {
    for (const spelling of [path, `${path}/`]) audienceByPath.set(spelling, audience);
  };
  for (const path of ['', ...doors]) spell(path, origin);
  for (const path of parts) spell(path, `${origin}${path}`);
  const prefix = /^[^/?#]+:\/\/[^/?#]*/;
  return {
    audience: origin,
    audiences: [...new Set(audienceByPath.values())],
    audienceOf(value) {
      const start = prefix.exec(value)?.[0];
      if (start === undefined || start.toLowerCase() !== origin.toLowerCase()) return undefined;
      return audienceByPath.get(value.slice(start.length));
    },
  };
}
