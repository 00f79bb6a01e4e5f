import type { Finding } from './problems.ts';
import { formatPath, isTree, type Path, type Tree, valueAt } from './tree.ts';

const OWN = '{member.id}';

/**
 * Checks that what an upstream's `credential` opens is each member's own. In: the merged settings, not yet known to fit
 * the schema. A session can only be kept where the browser shows one; one key for all members goes only with requests
 * that the gate keeps to the member who asks, or that the operator calls public.
 */
export function checkCredentials(tree: Tree): readonly Finding[] {
  const upstreams = isTree(tree.upstreams) ? tree.upstreams : {};
  return Object.keys(upstreams).flatMap((name): readonly Finding[] => {
    const path: Path = ['upstreams', name, 'credential'];
    switch (valueAt(tree, [...path, 'kind'])) {
      case 'session':
        return sessionOfNobody(tree, path);
      case 'key':
        return [...openRoutes(tree, name), ...openTools(tree, name)];
      default:
        return [];
    }
  });
}

function sessionOfNobody(tree: Tree, path: Path): readonly Finding[] {
  const kind = valueAt(tree, ['login', 'kind']);
  if (kind !== 'session') {
    const message = `with login.kind ${String(kind)} no session of the backend is seen: it needs \`login: { kind: session }\``;
    return [{ path: [...path, 'kind'], at: 'value', message }];
  }
  const shown = valueAt(tree, ['login', 'cookies']);
  const kept = valueAt(tree, [...path, 'cookies']);
  if (!Array.isArray(shown) || !Array.isArray(kept) || kept.some((name) => shown.includes(name))) return [];
  const message = 'has none of login.cookies, by which members are known: name the cookie of the session';
  return [{ path: [...path, 'cookies'], at: 'value', message }];
}

function openRoutes(tree: Tree, upstream: string): readonly Finding[] {
  const routes = Array.isArray(tree.routes) ? tree.routes : [];
  return routes.flatMap((route: unknown, index): readonly Finding[] => {
    if (valueAt(route, ['upstream']) !== upstream || valueAt(route, ['anonymous']) === 'serve') return [];
    const own = (['match', 'rewrite', 'query', 'body'] as const).some((key) => names(valueAt(route, [key])));
    return own ? [] : [open(['routes', index, 'match'], upstream, 'or say `anonymous: serve` where everybody may')];
  });
}

function openTools(tree: Tree, upstream: string): readonly Finding[] {
  const tools = valueAt(tree, ['mcp', 'tools']);
  return (Array.isArray(tools) ? tools : []).flatMap((tool: unknown, index): readonly Finding[] => {
    const get = valueAt(tool, ['get']);
    if (valueAt(get, ['upstream']) !== upstream) return [];
    const own = names(valueAt(get, ['path'])) || names(valueAt(get, ['query']));
    return own ? [] : [open(['mcp', 'tools', index, 'get', 'path'], upstream, 'or use `route` with a public route')];
  });
}

function open(path: Path, upstream: string, otherwise: string): Finding {
  const where = formatPath(['upstreams', upstream, 'credential']);
  const message = `would read anybody's records with ${where}: name ${OWN} in it, ${otherwise}`;
  return { path, at: 'value', message };
}

function names(value: unknown): boolean {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).includes(OWN);
}
