import { parseMatch, type RouteConfig } from '../../../config/schema.ts';
import { isOnePart, segmentsOf } from '../pattern.ts';

const MEMBER_ID = '{member.id}';

/**
 * Where clients find an operation of an upstream. In: the route, and the operation's path at the upstream, with `{name}`
 * for parameters. Out: its path at the gate, undefined when the route does not lead to it. What the route fills itself
 * is not in it; a part of it that must be the id of the member is `{member_id}`.
 */
export function pathAtGate({ match, rewrite }: RouteConfig, upstreamPath: string): string | undefined {
  const { pattern } = parseMatch(match);
  const captured = capture(segmentsOf(rewrite ?? pattern), segmentsOf(upstreamPath));
  if (captured === undefined) return undefined;
  const wildcards = [...captured];
  const segments = segmentsOf(pattern).flatMap((segment) => {
    if (segment === '*' || segment === '**') return wildcards.shift() ?? [];
    return segment === MEMBER_ID ? ['{member_id}'] : [segment];
  });
  return `/${segments.join('/')}`;
}

/** What the wildcards of a pattern stand for in a path, in their order; undefined when the path is not one of it. */
function capture(pattern: readonly string[], path: readonly string[]): readonly (readonly string[])[] | undefined {
  const captured: (readonly string[])[] = [];
  for (const [at, segment] of pattern.entries()) {
    if (segment === '**') return [...captured, path.slice(at)];
    const part = path[at];
    if (part === undefined) return undefined;
    if (segment === '*') {
      if (part === '') return undefined;
      captured.push([part]);
    } else if (segment === MEMBER_ID ? !isOnePart(part) : segment !== part) return undefined;
  }
  return pattern.length === path.length ? captured : undefined;
}

/** The path of an upstream's document as the routes know it: under its server's base path, without the URL's own. */
export function pathAtUpstream(path: string, basePath: string, urlPath: string): string {
  const whole = basePath + path;
  return urlPath !== '' && whole.startsWith(`${urlPath}/`) ? whole.slice(urlPath.length) : whole;
}
