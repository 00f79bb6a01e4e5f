import { isObject } from '../http/json-object.ts';
import type { UntracedProblem } from './problems.ts';
import { covers, nameOf, type RouteMatch, routeMatches, segmentsOf, sharesMethod } from './route-order.ts';
import { didYouMean } from './suggest.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

/** What a route can refer to of the member the token belongs to. */
const PLACEHOLDERS = ['{member.id}'] as const;

/**
 * Checks the routes that are limited to a member's own records. Takes the merged settings before they are validated.
 * Such a route uses only known placeholders, does not serve anonymous requests, and does not come after a route that
 * serves the same paths for all members.
 */
export function checkOwnRecords(tree: Tree): readonly UntracedProblem[] {
  const matches = routeMatches(tree);
  return matches.flatMap((match, index): UntracedProblem[] => {
    const at = match.path.slice(0, -1);
    const route = valueAt(tree, at);
    const paths = [
      { path: [...at, 'match'], pattern: withoutNames(match, route) },
      { path: [...at, 'rewrite'], pattern: String(valueAt(route, ['rewrite']) ?? '') },
    ].filter(({ pattern }) => /[{}]/.test(pattern));
    const set = (['query', 'body'] as const).flatMap((where) => {
      const parameters = valueAt(route, [where]);
      return isObject(parameters) ? Object.entries(parameters).map(([name, value]) => ({ where, name, value })) : [];
    });
    if (paths.length === 0 && set.length === 0) return [];
    return [
      ...paths.flatMap(({ path, pattern }) => unknown(path, pattern.split('/'))),
      ...set.flatMap(({ where, name, value }) => unknown([...at, where, name], [String(value)], true)),
      ...(set.some(({ where }) => where === 'body') ? withoutBody(match) : []),
      ...((valueAt(route, ['anonymous']) ?? tree.anonymous) === 'serve' ? [forAnonymous(at)] : []),
      ...shadowed(tree, matches.slice(0, index), match),
    ];
  });
}

/** The pattern as it is written, without the segments that the route's role uses, or that its approval shows by name. */
function withoutNames({ match }: RouteMatch, route: unknown): string {
  const role = JSON.stringify(valueAt(route, ['role']) ?? '');
  const used = (name: string) => valueAt(route, ['approve']) === true || role.includes(`{path.${name}}`);
  return match.slice(match.indexOf(' ') + 1).replace(/\{(\w+)\}/g, (whole, name) => (used(name) ? '*' : whole));
}

function unknown(path: Path, values: readonly string[], only = false): readonly UntracedProblem[] {
  const wrong = values.find(
    (value) => (only || /[{}]/.test(value)) && !PLACEHOLDERS.some((placeholder) => placeholder === value),
  );
  if (wrong === undefined) return [];
  const hint = didYouMean(wrong, PLACEHOLDERS) || '; use {member.id} as a complete path segment or value';
  return [{ path, at: 'value', message: `there is no "${wrong}"${hint}` }];
}

function forAnonymous(path: Path): UntracedProblem {
  const message = 'uses {member.id}, but a request without a token has no member: set `anonymous: refuse`';
  return { path: [...path, 'match'], at: 'value', message };
}

/** A body in a GET request has no meaning (RFC 9110 section 9.3.1), so it cannot say whose record is requested. */
function withoutBody({ path, methods }: RouteMatch): readonly UntracedProblem[] {
  if (methods !== undefined && !methods.some((method) => method === 'GET' || method === 'HEAD')) return [];
  const message = 'sets `body`, but GET requests have no body: list the other methods';
  return [{ path, at: 'value', message }];
}

/** The first match wins: an earlier route that covers all its paths would give each member everyone's records. */
function shadowed(tree: Tree, earlier: readonly RouteMatch[], route: RouteMatch): readonly UntracedProblem[] {
  const { path, pattern } = route;
  const first = earlier.find(
    (one) =>
      !keepsAsMuch(tree, one, route) &&
      sharesMethod(one, route) &&
      covers(segmentsOf(one.pattern), segmentsOf(pattern)),
  );
  if (first === undefined) return [];
  const message = `comes after ${nameOf(first)}, which serves these paths for every member's records: put this route first`;
  return [{ path, at: 'value', message }];
}

/** Whether a route has `{member.id}` in every key in which the other one has it. */
function keepsAsMuch(tree: Tree, ...routes: readonly RouteMatch[]): boolean {
  return (['match', 'rewrite', 'query', 'body'] as const).every((key) => {
    const [here, there] = routes.map(({ path }) => JSON.stringify(valueAt(tree, [...path.slice(0, -1), key])) ?? '');
    return here?.includes('{member.id}') || !there?.includes('{member.id}');
  });
}
