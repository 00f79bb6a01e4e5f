/**
 * RFC 8707 resource indicators: which spellings of our resource we take, and what each one means.
 * Real clients send the origin with and without a slash, or the URL of the door they came through.
 */
export interface ResourceIndicators {
  /** The audience every spelling stands for: the origin. */
  readonly audience: string;
  /**
   * Out: the audience that `value` names, or undefined when it names nothing of ours (foreign, relative, with a
   * fragment or a query). Scheme and host are compared without case (RFC 3986 §6.2.2.1).
   */
  audienceOf(value: string): string | undefined;
}

/** In: the origin (no trailing slash) and the paths of the doors that stand under it, e.g. '/account/graphql'. */
export function resourceIndicators(origin: string, doors: readonly string[]): ResourceIndicators {
  const paths = new Set(['', '/', ...doors.flatMap((door) => [door, `${door}/`])]);
  const prefix = /^[^/?#]+:\/\/[^/?#]*/;
  return {
    audience: origin,
    audienceOf(value) {
      const start = prefix.exec(value)?.[0];
      if (start === undefined || start.toLowerCase() !== origin.toLowerCase()) return undefined;
      return paths.has(value.slice(start.length)) ? origin : undefined;
    },
  };
}
