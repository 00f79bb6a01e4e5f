/** Announces to clients that an endpoint will be removed. Dates are days, such as `2026-12-31`, from 00:00 UTC. */
export interface Deprecation {
  readonly since: string;
  readonly sunset?: string | undefined;
  /** A page that says what to use instead. */
  readonly link?: string | undefined;
}

/**
 * Alternating names and values: Deprecation (RFC 9745 section 2), Sunset (RFC 8594 section 3), and a Link to the
 * documentation (RFC 9745 section 3).
 */
export function deprecationFields({ since, sunset, link }: Deprecation): readonly string[] {
  return [
    ...['deprecation', `@${Date.parse(since) / 1000}`],
    ...(sunset === undefined ? [] : ['sunset', new Date(sunset).toUTCString()]),
    ...(link === undefined ? [] : ['link', `<${link}>; rel="deprecation"`]),
  ];
}
