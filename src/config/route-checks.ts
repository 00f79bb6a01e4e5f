import { METHODS } from 'node:http';
import type { UntracedProblem } from './problems.ts';
import { overlap, repeated, routeMatches, segmentsOf } from './route-order.ts';
import { didYouMean } from './suggest.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

/** The paths of coursegate's own endpoints, in every configuration. No route can take them over. */
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
 * Checks the patterns of the routes. Takes the merged settings before they are validated; the schema reports a `match`
 * of the wrong form.
 */
export function checkRoutes(tree: Tree): readonly UntracedProblem[] {
  const matches = routeMatches(tree);
  const findings = matches.flatMap((match, index): UntracedProblem[] => {
    const message =
      badMethod(match.methods) ??
      badPattern(match.pattern) ??
      ownPath(match.pattern) ??
      repeated(match, matches.slice(0, index));
    return message === undefined ? [] : [{ path: match.path, at: 'value', message }];
  });
  return [...findings, ...matches.flatMap(({ path, pattern }) => checkRewrite(tree, path, pattern))];
}

function checkRewrite(tree: Tree, matchPath: Path, pattern: string): readonly UntracedProblem[] {
  const path = [...matchPath.slice(0, -1), 'rewrite'];
  const rewrite = valueAt(tree, path);
  // The schema reports one that does not begin with /.
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
  return wanted === found ? undefined : `must have the same wildcards as match: ${wanted || 'none'}`;
}

/** Requests with any other method are refused before routes are looked at. The gate connects nobody to anything. */
const ROUTED = METHODS.filter((method) => method !== 'CONNECT');

function badMethod(methods: readonly string[] = []): string | undefined {
  const unknown = methods.find((method) => !ROUTED.includes(method));
  return unknown && `"${unknown}" is not a method that a request can have here${didYouMean(unknown, ROUTED)}`;
}

function badPattern(pattern: string): string | undefined {
  const segments = pattern.slice(1).split('/');
  if (segments.slice(0, -1).includes('**')) return '`**` must be the last path segment';
  if (segments.some((segment) => segment.includes('*') && !/^\*\*?$/.test(segment))) {
    return '`*` and `**` must be complete path segments';
  }
  // Requests are matched by their canonical path, which never contains these: such a route could never match.
  if (
    /[?#\\]/.test(pattern) ||
    segments.some((segment, at) => segment === '.' || segment === '..' || (segment === '' && at < segments.length - 1))
  ) {
    return 'must be a plain path, without ?, #, \\, empty segments, . or ..';
  }
  return undefined;
}

/** The first of coursegate's own paths that a route's pattern would match; undefined when there is none. */
export function ownPathIn(pattern: string): string | undefined {
  return OWN_PATHS.find((path) => overlap(segmentsOf(pattern), segmentsOf(path)));
}

function ownPath(pattern: string): string | undefined {
  const own = ownPathIn(pattern);
  return own === undefined ? undefined : `matches ${own}, which is coursegate's own: choose a narrower path`;
}
