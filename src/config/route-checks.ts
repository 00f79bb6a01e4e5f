import type { Finding } from './problems.ts';
import { parseMatch } from './schema.ts';
import { formatPath, type Tree, valueAt } from './tree.ts';

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

interface Match {
  readonly path: readonly (string | number)[];
  readonly methods: readonly string[] | undefined;
  readonly pattern: string;
}

/**
 * Checks the patterns of the routes. In: the merged settings, not yet known to fit the schema; a `match` of the wrong
 * form is the schema's to report.
 */
export function checkRoutes(tree: Tree): readonly Finding[] {
  const routes = Array.isArray(tree.routes) ? tree.routes : [];
  const matches = routes.flatMap((_, index): Match[] => {
    const path = ['routes', index, 'match'];
    const match = valueAt(tree, path);
    return typeof match === 'string' && /^\S+ \/\S*$/.test(match) ? [{ path, ...parseMatch(match) }] : [];
  });
  const findings = matches.flatMap((match, index): Finding[] => {
    const message =
      badPattern(match.pattern) ??
      ownPath(match.pattern.replaceAll('{member.id}', '*')) ??
      repeated(match, matches.slice(0, index));
    return message === undefined ? [] : [{ path: match.path, at: 'value', message }];
  });
  return [...findings, ...matches.flatMap(({ path, pattern }) => checkRewrite(tree, path, pattern))];
}

function checkRewrite(tree: Tree, matchPath: Match['path'], pattern: string): readonly Finding[] {
  const path = [...matchPath.slice(0, -1), 'rewrite'];
  const rewrite = valueAt(tree, path);
  // One that does not begin with / is the schema's to report.
  if (typeof rewrite !== 'string' || !rewrite.startsWith('/') || badPattern(pattern) !== undefined) return [];
  const message = badPattern(rewrite) ?? otherWildcards(pattern, rewrite);
  return message === undefined ? [] : [{ path, at: 'value', message }];
}

function otherWildcards(pattern: string, rewrite: string): string | undefined {
  const wildcards = (of: string) =>
    segmentsOf(of)
      .filter((segment) => segment.startsWith('*'))
      .join(' ');
  const [wanted, found] = [wildcards(pattern), wildcards(rewrite)];
  return wanted === found ? undefined : `must have the wildcards of match: ${wanted || 'none'}`;
}

function badPattern(pattern: string): string | undefined {
  const segments = segmentsOf(pattern);
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

/** Whether some path fits both patterns. */
function overlap([left, ...lefts]: readonly string[], [right, ...rights]: readonly string[]): boolean {
  if (left === '**' || right === '**') return true;
  if (left === undefined || right === undefined) return left === right || (left ?? right) === '';
  return (left === right || left === '*' || right === '*') && overlap(lefts, rights);
}

/** The first match wins, so the same method and pattern again is a route that is never taken. */
function repeated({ methods, pattern }: Match, earlier: readonly Match[]): string | undefined {
  const first = earlier.find(
    (match) =>
      match.pattern === pattern &&
      (match.methods === undefined || methods?.some((method) => match.methods?.includes(method))),
  );
  return first === undefined ? undefined : `is matched by ${formatPath(first.path.slice(0, -1))} already`;
}

function segmentsOf(pattern: string): readonly string[] {
  return pattern.slice(1).split('/');
}
