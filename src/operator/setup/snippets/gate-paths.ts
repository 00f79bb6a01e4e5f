import { escaped, segmentExpression } from './segment-expression.ts';
import { OWN_PREFIXES } from './targets.ts';

/** The paths that a web server sends to the gate, in three forms that every web server can match. */
export type GatePaths = ReturnType<typeof gatePaths>;

/** Reduces route patterns to the fewest matches: paths that a prefix already covers are dropped. */
export function gatePaths(patterns: readonly string[]) {
  const exact = new Set<string>();
  const under = new Set(OWN_PREFIXES);
  const others = new Set<string>();
  for (const pattern of patterns) {
    const base = pattern.endsWith('/**') ? pattern.slice(0, -3) : pattern;
    if (base.includes('*')) others.add(expression(pattern));
    else {
      exact.add(base === '' ? '/' : encoded(base));
      if (base !== pattern) under.add(`${encoded(base)}/`);
    }
  }
  // For apps that were given the address with a trailing slash.
  for (const path of ['/mcp', '/mcp/member']) if (exact.has(path)) exact.add(`${path}/`);
  const isUnder = (path: string, not?: string) => [...under].some((one) => one !== not && path.startsWith(one));
  return {
    /** Exact paths. */
    exact: [...exact].filter((path) => !isUnder(path)).toSorted(),
    /** Prefixes; each ends in a slash. */
    under: [...under].filter((path) => !isUnder(path, path)).toSorted(),
    /** Paths with a wildcard inside, as regular expressions without anchors, in syntax that every engine supports. */
    patterns: [...others].filter((pattern) => !isUnder(pattern.replaceAll('\\', ''))).toSorted(),
  };
}

/** One anchored expression for all paths. */
export function oneExpression({ exact, under, patterns }: GatePaths): string {
  const all = [...exact.map(escaped), ...under.map((path) => `${escaped(path)}.*`), ...patterns];
  return `^(${all.join('|')})$`;
}

function expression(pattern: string): string {
  const fixed = (segment: string) => escaped(encoded(segment));
  return segmentExpression(pattern, { rest: '(/.*)?', one: '/[^/]+', fixed });
}

/** Web servers match the decoded path, so percent-encoding in a pattern is decoded. */
function encoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
