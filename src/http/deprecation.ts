/** What clients of an address are told that is to go. Dates are days, `2026-12-31`, from their first moment in UTC. */
export interface Deprecation {
  readonly since: string;
  readonly sunset?: string | undefined;
  /** Where it is said what to use instead. */
  readonly link?: string | undefined;
}

/** Out: names and values in turn: Deprecation (RFC 9745 §2), Sunset (RFC 8594 §3), and where more is said (RFC 9745 §3). */
export function deprecationFields({ since, sunset, link }: Deprecation): readonly string[] {
  return [
    ...['deprecation', `@${Date.parse(since) / 1000}`],
    ...(sunset === undefined ? [] : ['sunset', new Date(sunset).toUTCString()]),
    ...(link === undefined ? [] : ['link', `<${link}>; rel="deprecation"`]),
  ];
}
