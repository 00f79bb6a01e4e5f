import type { UntracedProblem } from '../../config/problems.ts';
import { formatPath, keysAt, listAt, type Path, type Tree, valueAt } from '../../config/tree.ts';
import { loginFacts } from '../../login/kinds.ts';

const OWN = '{member.id}';

/**
 * Checks that an upstream's `credential` only gives each member access to their own records. Takes the merged settings
 * before they are validated. A session can only be kept if the browser sends the gate one. A key shared by all members
 * may only be used for requests that the gate limits to the member, or that the operator has made public.
 */
export function checkCredentials(tree: Tree): readonly UntracedProblem[] {
  return keysAt(tree, ['upstreams']).flatMap((name): readonly UntracedProblem[] => {
    const path: Path = ['upstreams', name, 'credential'];
    switch (valueAt(tree, [...path, 'kind'])) {
      case 'session':
        return unidentifiedSession(tree, path);
      case 'key':
        return [...openRoutes(tree, name), ...openTools(tree, name)];
      default:
        return [];
    }
  });
}

function unidentifiedSession(tree: Tree, path: Path): readonly UntracedProblem[] {
  if (loginFacts(tree).keepsSession !== true) {
    const kind = valueAt(tree, ['login', 'kind']);
    const message = `needs \`login: { kind: session }\`: with login.kind ${String(kind)} the gate gets no session of the backend`;
    return [{ path: [...path, 'kind'], at: 'value', message }];
  }
  const shown = valueAt(tree, ['login', 'cookies']);
  const kept = valueAt(tree, [...path, 'cookies']);
  if (!Array.isArray(shown) || !Array.isArray(kept) || kept.some((name) => shown.includes(name))) return [];
  const message = 'includes none of login.cookies, which identify the member: add the session cookie';
  return [{ path: [...path, 'cookies'], at: 'value', message }];
}

function openRoutes(tree: Tree, upstream: string): readonly UntracedProblem[] {
  return listAt(tree, ['routes']).flatMap((route, index): readonly UntracedProblem[] => {
    if (valueAt(route, ['upstream']) !== upstream || valueAt(route, ['anonymous']) === 'serve') return [];
    const own = (['match', 'rewrite', 'query', 'body'] as const).some((key) => names(valueAt(route, [key])));
    return own ? [] : [open(['routes', index, 'match'], upstream, 'or set `anonymous: serve` if it is public')];
  });
}

function openTools(tree: Tree, upstream: string): readonly UntracedProblem[] {
  return listAt(tree, ['mcp', 'tools']).flatMap((tool, index): readonly UntracedProblem[] => {
    const [get, server] = [valueAt(tool, ['get']), valueAt(tool, ['server'])];
    if (valueAt(server, ['upstream']) === upstream && !names(valueAt(server, ['arguments'])))
      return [open(['mcp', 'tools', index, 'server', 'upstream'], upstream, 'in `arguments`')];
    if (valueAt(get, ['upstream']) !== upstream) return [];
    const own = names(valueAt(get, ['path'])) || names(valueAt(get, ['query']));
    return own ? [] : [open(['mcp', 'tools', index, 'get', 'path'], upstream, 'or use `route` with a public route')];
  });
}

function open(path: Path, upstream: string, otherwise: string): UntracedProblem {
  const where = formatPath(['upstreams', upstream, 'credential']);
  const message = `would give access to every member's records with ${where}: use ${OWN} in it, ${otherwise}`;
  return { path, at: 'value', message };
}

function names(value: unknown): boolean {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).includes(OWN);
}
