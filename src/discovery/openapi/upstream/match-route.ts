import { parseMatch, type RouteConfig } from '../../../config/schema.ts';

const MEMBER_ID = '{member.id}';

/**
 * The path at the gate of an upstream's operation; undefined if the route does not lead to it. `upstreamPath` has
 * `{name}` for parameters. Segments that the route fills itself are left out, and a segment that must be the member's
 * id becomes `{member_id}`.
 */
export function pathAtGate({ match, rewrite }: RouteConfig, upstreamPath: string): string | undefined {
  const { pattern } = parseMatch(match);
  const captured = capture((rewrite ?? pattern).split('/'), upstreamPath.split('/'));
  if (captured === undefined) return undefined;
  const wildcards = [...captured];
  const segments = pattern.split('/').flatMap((segment) => {
    if (segment === '*' || segment === '**') return wildcards.shift() ?? [];
    return segment === MEMBER_ID ? ['{member_id}'] : [segment];
  });
  return segments.join('/');
}

/** The segments that the wildcards of a pattern match, in order; undefined if the path does not match. */
function capture(pattern: readonly string[], path: readonly string[]): readonly (readonly string[])[] | undefined {
  const captured: (readonly string[])[] = [];
  for (const [at, segment] of pattern.entries()) {
    if (segment === '**') return [...captured, path.slice(at)];
    const part = path[at];
    if (part === undefined) return undefined;
    if (segment === '*') {
      if (part === '') return undefined;
      captured.push([part]);
    } else if (segment === MEMBER_ID ? !/^\{.*\}$/.test(part) : segment !== part) return undefined;
  }
  return pattern.length === path.length ? captured : undefined;
}

/**
 * Converts a path of an upstream's document to the form that routes use: with the base path of the document's server,
 * without the path of the upstream's URL.
 */
export function pathAtUpstream(path: string, basePath: string, urlPath: string): string {
  const whole = basePath + path;
  return urlPath !== '' && whole.startsWith(`${urlPath}/`) ? whole.slice(urlPath.length) : whole;
}
