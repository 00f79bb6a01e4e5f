import type { Finding } from './problems.ts';
import { parseMatch } from './schema.ts';
import { formatPath, type Path, type Tree, valueAt } from './tree.ts';

/** The pattern of a route, and where it stands. */
export interface RouteMatch {
  readonly path: Path;
  readonly match: string;
  readonly methods: readonly string[] | undefined;
  readonly pattern: string;
}

/** In: the merged settings, not yet known to fit the schema. Out: the routes whose `match` has the right form, in order. */
export function routeMatches(tree: Tree): readonly RouteMatch[] {
  const routes = Array.isArray(tree.routes) ? tree.routes : [];
  return routes.flatMap((_, index): RouteMatch[] => {
    const path = ['routes', index, 'match'];
    const match = valueAt(tree, path);
    return typeof match === 'string' && /^\S+ \/\S*$/.test(match) ? [{ path, match, ...parseMatch(match) }] : [];
  });
}

/** The same method and pattern again is a route that is never taken: the first match wins. */
export function repeated(route: RouteMatch, earlier: readonly RouteMatch[]): string | undefined {
  const first = earlier.find((one) => one.pattern === route.pattern && takesSome(one, route));
  return first === undefined ? undefined : `is matched by ${nameOf(first)} already`;
}

/**
 * A narrow route behind a wide one that protects otherwise is a rule that its author believes in, and that holds for
 * nobody. In: the merged settings, not yet known to fit the schema.
 */
export function checkRouteOrder(tree: Tree): readonly Finding[] {
  const matches = routeMatches(tree);
  return matches.flatMap((route, index): Finding[] => {
    const first = matches
      .slice(0, index)
      .find((one) => takesSome(one, route) && covers(segmentsOf(one.pattern), segmentsOf(route.pattern)));
    if (first === undefined || protectedAlike(tree, first, route)) return [];
    const message = `${methodsHidden(first, route)}is never met: ${nameOf(first)} (${first.match}) comes before it and takes in all of its paths. Put the narrower one first`;
    return [{ path: route.path, at: 'value', message }];
  });
}

/**
 * Neither takes in the other, and some paths fit both: which rule holds there is only said by their order. In: settings
 * without mistakes, so that no route is behind one that takes in all of it and protects otherwise.
 */
export function crossingRoutes(tree: Tree): readonly Finding[] {
  const matches = routeMatches(tree);
  return matches.flatMap((route, index): Finding[] => {
    const first = matches.slice(0, index).find((one) => crosses(one, route) && !protectedAlike(tree, one, route));
    if (first === undefined) return [];
    const message = `shares paths with ${nameOf(first)} (${first.match}), which protects them otherwise and is taken there: it comes first`;
    return [{ path: route.path, at: 'value', message }];
  });
}

/** Whether some path fits both patterns. */
export function overlap([left, ...lefts]: readonly string[], [right, ...rights]: readonly string[]): boolean {
  if (left === '**' || right === '**') return true;
  if (left === undefined || right === undefined) return left === right || (left ?? right) === '';
  return (left === right || left === '*' || right === '*') && overlap(lefts, rights);
}

/** Out: the parts of a pattern as requests are matched: whose id stands in `{member.id}` is only asked once it is taken. */
export function segmentsOf(pattern: string): readonly string[] {
  return pattern.replaceAll('{member.id}', '*').slice(1).split('/');
}

/** Whether every path that fits `inner` fits `outer`. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  const [left, ...lefts] = outer;
  const [right, ...rights] = inner;
  if (left === '**') return true;
  if (left === undefined || right === undefined || right === '**') return left === right;
  // `*` is some part, and never the empty one behind a final slash.
  return (left === right || (left === '*' && right !== '')) && covers(lefts, rights);
}

function takesSome(earlier: RouteMatch, later: RouteMatch): boolean {
  return earlier.methods === undefined || later.methods?.some((method) => earlier.methods?.includes(method)) === true;
}

function methodsHidden(first: RouteMatch, { methods = [] }: RouteMatch): string {
  const hidden = methods.filter((method) => first.methods?.includes(method));
  return first.methods === undefined || hidden.length === methods.length ? '' : `for ${hidden.join(' and ')} `;
}

function crosses(earlier: RouteMatch, later: RouteMatch): boolean {
  const [left, right] = [segmentsOf(earlier.pattern), segmentsOf(later.pattern)];
  const shared =
    earlier.methods === undefined ||
    later.methods === undefined ||
    later.methods.some((method) => earlier.methods?.includes(method));
  return shared && overlap(left, right) && !covers(right, left);
}

const PROTECTION = ['upstream', 'scopes', 'anonymous', 'query', 'body'];

function protectedAlike(tree: Tree, one: RouteMatch, other: RouteMatch): boolean {
  const rules = ({ path }: RouteMatch) =>
    JSON.stringify(PROTECTION.map((key) => valueAt(tree, [...path.slice(0, -1), key]) ?? null));
  return rules(one) === rules(other);
}

function nameOf({ path }: RouteMatch): string {
  return formatPath(path.slice(0, -1));
}
