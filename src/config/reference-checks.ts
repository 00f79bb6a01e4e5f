import type { Finding } from './problems.ts';
import { didYouMean } from './suggest.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/**
 * Checks that every name in the settings names something. In: the merged settings, not yet known to fit the schema, so
 * that these mistakes are reported together with those; what has the wrong type is passed over here.
 */
export function checkReferences(tree: Tree): readonly Finding[] {
  const routes = Array.isArray(tree.routes) ? tree.routes : [];
  const resources = Array.isArray(tree.resources) ? tree.resources : [];
  const tools = valueAt(tree, ['mcp', 'tools']);
  const toolPaths = Array.isArray(tools) ? tools.map((_, index): Path => ['mcp', 'tools', index]) : [];
  return [
    ...unknownUpstreams(tree, [
      ['login', 'upstream'],
      ['login', 'recheck', 'upstream'],
      ['site', 'upstream'],
      ['events', 'upstream'],
      ...Object.keys(isTree(tree.upstreams) ? tree.upstreams : {}).map(
        (name): Path => ['upstreams', name, 'credential', 'mint', 'upstream'],
      ),
      ...routes.map((_, index): Path => ['routes', index, 'upstream']),
      ...toolPaths.map((path): Path => [...path, 'get', 'upstream']),
    ]),
    ...toolPaths.flatMap((path) => unknownScopes(tree, [...path, 'scopes'])),
    ...routes.flatMap((_, index) => unknownScopes(tree, ['routes', index, 'scopes'])),
    ...resources.flatMap((_, index) => unknownScopes(tree, ['resources', index, 'scopes'])),
    ...loginWithoutSite(tree),
    ...headerOfStrangers(tree),
    ...samePort(tree),
    ...sharedStoreWithoutSecret(tree),
    ...workersWithoutSharedStore(tree),
  ];
}

function unknownUpstreams(tree: Tree, paths: readonly Path[]): readonly Finding[] {
  const upstreams = tree.upstreams;
  if (!isTree(upstreams)) return [];
  return paths.flatMap((path) => {
    const name = valueAt(tree, path);
    if (typeof name !== 'string' || Object.hasOwn(upstreams, name)) return [];
    return [
      { path, at: 'value', message: `there is no upstream "${name}"${didYouMean(name, Object.keys(upstreams))}` },
    ];
  });
}

function unknownScopes(tree: Tree, path: Path): readonly Finding[] {
  const scopes = valueAt(tree, path);
  const catalogue = tree.scopes;
  if (!Array.isArray(scopes) || !isTree(catalogue)) return [];
  return scopes.flatMap((scope, index): Finding[] => {
    if (typeof scope !== 'string' || Object.hasOwn(catalogue, scope)) return [];
    const hint = didYouMean(scope, Object.keys(catalogue));
    return [{ path: [...path, index], at: 'value', message: `there is no scope "${scope}" in the catalogue${hint}` }];
  });
}

/** A login page given as a path is the legacy site's, and is only reached at our origin when the site is served there. */
function loginWithoutSite(tree: Tree): readonly Finding[] {
  const path = ['login', valueAt(tree, ['login', 'kind']) === 'bridge' ? 'url' : 'loginUrl'];
  const url = valueAt(tree, path);
  if (typeof url !== 'string' || !url.startsWith('/') || isTree(tree.site)) return [];
  const message =
    'a path needs `site`, which serves the login page at our origin; or write the full URL of the login page';
  return [{ path, at: 'value', message }];
}

/** A plain field of no trusted proxy would be nobody's for ever. */
function headerOfStrangers(tree: Tree): readonly Finding[] {
  const path = ['login', 'user'];
  if (valueAt(tree, ['login', 'kind']) !== 'header' || valueAt(tree, path) === undefined) return [];
  const proxies = valueAt(tree, ['listen', 'trustedProxies']);
  if (Array.isArray(proxies) && proxies.length > 0) return [];
  const message = 'is believed of listen.trustedProxies alone: name the networks of your proxy there';
  return [{ path, at: 'value', message }];
}

/** Found here, it is a sentence; found by the operating system, it is "address in use" by nobody to be seen. */
function samePort(tree: Tree): readonly Finding[] {
  const path = ['listen', 'admin', 'port'];
  const port = valueAt(tree, path) ?? 9090;
  if (port === 0 || port !== (valueAt(tree, ['listen', 'port']) ?? 8080)) return [];
  return [{ path, at: 'value', message: 'must differ from listen.port' }];
}

/** An embedded store makes a secret of its own; of two replicas that did so, neither could read what the other wrote. */
function sharedStoreWithoutSecret(tree: Tree): readonly Finding[] {
  if (valueAt(tree, ['store', 'kind']) !== 'redis' || tree.secret !== undefined) return [];
  const message = 'a redis store needs `secret`, the same for every replica, such as { env: COURSEGATE_SECRET }';
  return [{ path: ['store', 'kind'], at: 'value', message }];
}

function workersWithoutSharedStore(tree: Tree): readonly Finding[] {
  if (tree.cluster === undefined || valueAt(tree, ['store', 'kind']) !== 'memory') return [];
  const message = 'is in the memory of one process, and no worker of `cluster` would know of another: sqlite or redis';
  return [{ path: ['store', 'kind'], at: 'value', message }];
}
