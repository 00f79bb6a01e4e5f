import type { UntracedProblem } from './problems.ts';
import { parseMatch } from './route.ts';
import { formatPath, listAt, type Path, type Tree, valueAt } from './tree.ts';

/** The parsed `match` of a route, with its place in the configuration. */
export interface RouteMatch {
  readonly path: Path;
  readonly match: string;
  readonly methods: readonly string[] | undefined;
  readonly pattern: string;
}

/** The routes whose `match` has the right form, in order. Takes the merged settings before they are validated. */
export function routeMatches(tree: Tree): readonly RouteMatch[] {
  return listAt(tree, ['routes']).flatMap((_, index): RouteMatch[] => {
    const path = ['routes', index, 'match'];
    const match = valueAt(tree, path);
    return typeof match === 'string' && /^\S+ \/\S*$/.test(match) ? [{ path, match, ...parseMatch(match) }] : [];
  });
}

/** Finds a route with the same method and pattern as an earlier one. It would never match: the first match wins. */
export function repeated(route: RouteMatch, earlier: readonly RouteMatch[]): string | undefined {
  const first = earlier.find((one) => one.pattern === route.pattern && takesSome(one, route));
  return first === undefined ? undefined : `is already matched by ${nameOf(first)}`;
}

/**
 * Finds narrow routes that come after a wider one with different protection: the operator relies on a rule that never
 * applies. Takes the merged settings before they are validated.
 */
export function checkRouteOrder(tree: Tree): readonly UntracedProblem[] {
  const matches = routeMatches(tree);
  return matches.flatMap((route, index): UntracedProblem[] => {
    const first = matches
      .slice(0, index)
      .find((one) => takesSome(one, route) && covers(segmentsOf(one.pattern), segmentsOf(route.pattern)));
    if (first === undefined || protectedAlike(tree, first, route)) return [];
    const message = `${methodsHidden(first, route)}never applies: ${nameOf(first)} (${first.match}) comes before it and matches all of its paths. Put the narrower route first`;
    return [{ path: route.path, at: 'value', message }];
  });
}

/**
 * Finds routes with different protection that share some paths, where neither covers the other: only their order
 * decides which rule applies. Takes settings that passed `checkRouteOrder`.
 */
export function crossingRoutes(tree: Tree): readonly UntracedProblem[] {
  const matches = routeMatches(tree);
  return matches.flatMap((route, index): UntracedProblem[] => {
    const first = matches.slice(0, index).find((one) => crosses(one, route) && !protectedAlike(tree, one, route));
    if (first === undefined) return [];
    const message = `shares paths with ${nameOf(first)} (${first.match}), which protects them differently and applies to them because it comes first`;
    return [{ path: route.path, at: 'value', message }];
  });
}

/** Whether some path matches both patterns, from the segment `at` on. */
export function overlap(lefts: readonly string[], rights: readonly string[], at = 0): boolean {
  const [left, right] = [lefts[at], rights[at]];
  if (left === '**' || right === '**') return true;
  if (left === undefined || right === undefined) return left === right || (left ?? right) === '';
  return (left === right || left === '*' || right === '*') && overlap(lefts, rights, at + 1);
}

/** The segments of a pattern, with `{member.id}` as a wildcard: the id is compared only after the route has matched. */
export function segmentsOf(pattern: string): readonly string[] {
  return pattern.replaceAll('{member.id}', '*').slice(1).split('/');
}

/** Whether every path that matches `inner` matches `outer`. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  const [left, ...lefts] = outer;
  const [right, ...rights] = inner;
  if (left === '**') return true;
  if (left === undefined || right === undefined || right === '**') return left === right;
  // `*` matches any segment except the empty one after a trailing slash.
  return (left === right || (left === '*' && right !== '')) && covers(lefts, rights);
}

function takesSome(earlier: RouteMatch, later: RouteMatch): boolean {
  return earlier.methods === undefined || later.methods?.some((method) => earlier.methods?.includes(method)) === true;
}

function methodsHidden(first: RouteMatch, { methods = [] }: RouteMatch): string {
  const hidden = methods.filter((method) => first.methods?.includes(method));
  return first.methods === undefined || hidden.length === methods.length ? '' : `for ${hidden.join(' and ')} `;
}

/** Whether some method matches both routes. */
export function sharesMethod(one: RouteMatch, { methods }: RouteMatch): boolean {
  return methods?.some((method) => one.methods?.includes(method) ?? true) ?? true;
}

function crosses(earlier: RouteMatch, later: RouteMatch): boolean {
  const [left, right] = [segmentsOf(earlier.pattern), segmentsOf(later.pattern)];
  return sharesMethod(earlier, later) && overlap(left, right) && !covers(right, left);
}

const PROTECTION = ['upstream', 'scopes', 'role', 'anonymous', 'query', 'body'];

function protectedAlike(tree: Tree, one: RouteMatch, other: RouteMatch): boolean {
  const rules = ({ path }: RouteMatch) =>
    JSON.stringify(PROTECTION.map((key) => valueAt(tree, [...path.slice(0, -1), key]) ?? null));
  return rules(one) === rules(other);
}

/** The route as messages name it, such as `routes[3]`. */
export function nameOf({ path }: RouteMatch): string {
  return formatPath(path.slice(0, -1));
}
