import type { Finding } from './problems.ts';
import { overlap, repeated, routeMatches, segmentsOf } from './route-order.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

/** The addresses that are coursegate's own in every configuration; no upstream can stand in for them. */
const OWN_PATHS = [
  '/.well-known/**',
  '/oauth/**',
  '/api/oauth/**',
  '/account/graphql',
  '/mcp',
  '/mcp/member',
  '/openapi.json',
  '/auth.md',
] as const;

/**
 * Checks the patterns of the routes. In: the merged settings, not yet known to fit the schema; a `match` of the wrong
 * form is the schema's to report.
 */
export function checkRoutes(tree: Tree): readonly Finding[] {
  const matches = routeMatches(tree);
  const findings = matches.flatMap((match, index): Finding[] => {
    const message = badPattern(match.pattern) ?? ownPath(match.pattern) ?? repeated(match, matches.slice(0, index));
    return message === undefined ? [] : [{ path: match.path, at: 'value', message }];
  });
  return [...findings, ...matches.flatMap(({ path, pattern }) => checkRewrite(tree, path, pattern))];
}

function checkRewrite(tree: Tree, matchPath: Path, pattern: string): readonly Finding[] {
  const path = [...matchPath.slice(0, -1), 'rewrite'];
  const rewrite = valueAt(tree, path);
  // One that does not begin with / is the schema's to report.
  if (typeof rewrite !== 'string' || !rewrite.startsWith('/') || badPattern(pattern) !== undefined) return [];
  const message = badPattern(rewrite) ?? otherWildcards(pattern, rewrite);
  return message === undefined ? [] : [{ path, at: 'value', message }];
}

function otherWildcards(pattern: string, rewrite: string): string | undefined {
  const wildcards = (of: string) =>
    of
      .slice(1)
      .split('/')
      .filter((segment) => segment.startsWith('*'))
      .join(' ');
  const [wanted, found] = [wildcards(pattern), wildcards(rewrite)];
  return wanted === found ? undefined : `must have the wildcards of match: ${wanted || 'none'}`;
}

function badPattern(pattern: string): string | undefined {
  const segments = pattern.slice(1).split('/');
  if (segments.slice(0, -1).includes('**')) return '`**` must be the last part of the path';
  if (segments.some((segment) => segment.includes('*') && !/^\*\*?$/.test(segment))) {
    return '`*` and `**` stand for whole parts of the path';
  }
  // Requests are judged by their one canonical path, which has none of these: such a route would never be met.
  if (
    /[?#\\]/.test(pattern) ||
    segments.some((segment, at) => segment === '.' || segment === '..' || (segment === '' && at < segments.length - 1))
  ) {
    return 'must be a plain path, without ?, #, \\, empty parts, . or ..';
  }
  return undefined;
}

/** Which addresses of coursegate's own a route's pattern would take in; undefined when none. */
export function ownPathIn(pattern: string): string | undefined {
  return OWN_PATHS.find((path) => overlap(segmentsOf(pattern), segmentsOf(path)));
}

function ownPath(pattern: string): string | undefined {
  const own = ownPathIn(pattern);
  return own === undefined ? undefined : `takes in ${own}, which is coursegate's own: choose a narrower path`;
}
