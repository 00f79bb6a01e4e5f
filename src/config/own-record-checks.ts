import type { Finding } from './problems.ts';
import { covers, segmentsOf } from './route-order.ts';
import { parseMatch } from './schema.ts';
import { didYouMean } from './suggest.ts';
import { formatPath, isTree, type Path, type Tree, valueAt } from './tree.ts';

/** What a route may name of the member who asks. */
const PLACEHOLDERS = ['{member.id}'] as const;

/**
 * Checks the routes to a member's own records. In: the merged settings, not yet known to fit the schema. Such a route
 * names what there is, serves nobody as anonymous, and is not behind another that serves everyone's records.
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
  const hint = didYouMean(wrong, PLACEHOLDERS) || '; there is {member.id}, as a whole part';
  return [{ path, at: 'value', message: `there is no "${wrong}"${hint}` }];
}

function forAnonymous(path: Path): Finding {
  const message = 'names {member.id}, and nobody is a member without a token: say `anonymous: refuse`';
  return { path: [...path, 'match'], at: 'value', message };
}

/** A GET has no body that means anything (RFC 9110 §9.3.1), so that none could say whose record it is about. */
function withoutBody(path: Path, match: string): readonly Finding[] {
  const { methods } = parseMatch(match);
  if (methods !== undefined && !methods.some((method) => method === 'GET' || method === 'HEAD')) return [];
  const message = 'has `body`, and a GET has none: name the other methods';
  return [{ path: [...path, 'match'], at: 'value', message }];
}

/** The first match wins: one before it that takes in all its paths would show everyone every record. */
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
  const message = `is behind ${formatPath(['routes', index])}, which takes these paths for every member's records: put it first`;
  return [{ path: [...path, 'match'], at: 'value', message }];
}

/** Whether a route keeps to the member's own wherever the other one does. */
function keepsAsMuch(route: unknown, other: unknown): boolean {
  return (['match', 'rewrite', 'query', 'body'] as const).every((key) => {
    const [here, there] = [route, other].map((one) => JSON.stringify(valueAt(one, [key])) ?? '');
    return here?.includes('{member.id}') || !there?.includes('{member.id}');
  });
}
