import type { Finding } from './problems.ts';
import { parseMatch } from './route.ts';
import { covers, segmentsOf } from './route-order.ts';
import { didYouMean } from './suggest.ts';
import { formatPath, isTree, type Path, type Tree, valueAt } from './tree.ts';

/** What a route can refer to of the member the token belongs to. */
const PLACEHOLDERS = ['{member.id}'] as const;

/**
 * Checks the routes that are limited to a member's own records. Takes the merged settings before they are validated.
 * Such a route uses only known placeholders, does not serve anonymous requests, and does not come after a route that
 * serves the same paths for all members.
 */
export function checkOwnRecords(tree: Tree): readonly Finding[] {
  const routes = Array.isArray(tree.routes) ? tree.routes : [];
  return routes.flatMap((route: unknown, index): Finding[] => {
    const match = valueAt(route, ['match']);
    if (typeof match !== 'string' || !/^\S+ \/\S*$/.test(match)) return [];
    const at: Path = ['routes', index];
    const paths = [
      { path: [...at, 'match'], pattern: parseMatch(match).pattern },
      { path: [...at, 'rewrite'], pattern: String(valueAt(route, ['rewrite']) ?? '') },
    ].filter(({ pattern }) => /[{}]/.test(pattern));
    const set = (['query', 'body'] as const).flatMap((where) => {
      const parameters = valueAt(route, [where]);
      return isTree(parameters) ? Object.entries(parameters).map(([name, value]) => ({ where, name, value })) : [];
    });
    if (paths.length === 0 && set.length === 0) return [];
    return [
      ...paths.flatMap(({ path, pattern }) => unknown(path, pattern.split('/'))),
      ...set.flatMap(({ where, name, value }) => unknown([...at, where, name], [String(value)], true)),
      ...(set.some(({ where }) => where === 'body') ? withoutBody(at, match) : []),
      ...((valueAt(route, ['anonymous']) ?? tree.anonymous) === 'serve' ? [forAnonymous(at)] : []),
      ...shadowed(routes.slice(0, index), route, match, at),
    ];
  });
}

function unknown(path: Path, values: readonly string[], only = false): readonly Finding[] {
  const wrong = values.find(
    (value) => (only || /[{}]/.test(value)) && !PLACEHOLDERS.some((placeholder) => placeholder === value),
  );
  if (wrong === undefined) return [];
  const hint = didYouMean(wrong, PLACEHOLDERS) || '; use {member.id} as a complete path segment or value';
  return [{ path, at: 'value', message: `there is no "${wrong}"${hint}` }];
}

function forAnonymous(path: Path): Finding {
  const message = 'uses {member.id}, but a request without a token has no member: set `anonymous: refuse`';
  return { path: [...path, 'match'], at: 'value', message };
}

/** A body in a GET request has no meaning (RFC 9110 section 9.3.1), so it cannot say whose record is requested. */
function withoutBody(path: Path, match: string): readonly Finding[] {
  const { methods } = parseMatch(match);
  if (methods !== undefined && !methods.some((method) => method === 'GET' || method === 'HEAD')) return [];
  const message = 'sets `body`, but GET requests have no body: list the other methods';
  return [{ path: [...path, 'match'], at: 'value', message }];
}

/** The first match wins: an earlier route that covers all its paths would give each member everyone's records. */
function shadowed(earlier: readonly unknown[], own: unknown, match: string, path: Path): readonly Finding[] {
  const { methods, pattern } = parseMatch(match);
  const index = earlier.findIndex((route) => {
    const other = valueAt(route, ['match']);
    if (typeof other !== 'string' || !/^\S+ \/\S*$/.test(other) || keepsAsMuch(route, own)) return false;
    const first = parseMatch(other);
    const shared = methods === undefined || methods.some((method) => first.methods?.includes(method) ?? true);
    return shared && covers(segmentsOf(first.pattern), segmentsOf(pattern));
  });
  if (index === -1) return [];
  const message = `comes after ${formatPath(['routes', index])}, which serves these paths for every member's records: put this route first`;
  return [{ path: [...path, 'match'], at: 'value', message }];
}

/** Whether a route has `{member.id}` in every key in which the other one has it. */
function keepsAsMuch(route: unknown, other: unknown): boolean {
  return (['match', 'rewrite', 'query', 'body'] as const).every((key) => {
    const [here, there] = [route, other].map((one) => JSON.stringify(valueAt(one, [key])) ?? '');
    return here?.includes('{member.id}') || !there?.includes('{member.id}');
  });
}
