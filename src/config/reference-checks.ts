import { isObject } from '../http/json-object.ts';
import { JSON_LOGINS, loginFacts } from '../login/kinds.ts';
import { isSharedStore } from '../storage/sql/settings.ts';
import type { UntracedProblem } from './problems.ts';
import { unknownName } from './suggest.ts';
import { keysAt, listAt, type Path, type Tree, valueAt } from './tree.ts';

/**
 * Checks that every reference in the settings resolves. Takes the merged settings before they are validated, so that
 * these mistakes are reported together with those of the schema. Values of the wrong type are ignored here.
 */
export function checkReferences(tree: Tree): readonly UntracedProblem[] {
  const places = (...path: string[]) => listAt(tree, path).map((_, index): Path => [...path, index]);
  const [routes, tools] = [places('routes'), places('mcp', 'tools')];
  return [
    ...unknownUpstreams(tree, [
      ['login', 'upstream'],
      ['login', 'recheck', 'upstream'],
      ['roles', 'upstream'],
      ['site', 'upstream'],
      ['events', 'upstream'],
      ...keysAt(tree, ['upstreams']).map((name) => ['upstreams', name, 'credential', 'mint', 'upstream']),
      ...routes.map((path) => [...path, 'upstream']),
      ...tools.flatMap((path) => ['get', 'server'].map((key) => [...path, key, 'upstream'])),
    ]),
    ...[...tools, ...routes].flatMap((path) => unknownScopes(tree, [...path, 'scopes'])),
    ...keysAt(tree, ['claims']).flatMap((name) => claimProblems(tree, ['claims', name])),
    ...loginWithoutSite(tree),
    ...samePort(tree),
    ...sharedStoreWithoutSecret(tree),
    ...sharedPortWithoutSharedStore(tree),
  ];
}

function unknownUpstreams(tree: Tree, paths: readonly Path[]): readonly UntracedProblem[] {
  if (!isObject(tree.upstreams)) return [];
  const upstreams = Object.keys(tree.upstreams);
  return paths.flatMap((path) => unknownName(path, 'upstream', valueAt(tree, path), upstreams));
}

function unknownScopes(tree: Tree, path: Path): readonly UntracedProblem[] {
  if (!isObject(tree.scopes)) return [];
  const catalogue = Object.keys(tree.scopes);
  return listAt(tree, path).flatMap((scope, index) =>
    unknownName([...path, index], 'scope', scope, catalogue, ' in the catalogue'),
  );
}

/** A claim needs a scope of the catalogue and, to be read from what the login says, a login that says it in JSON. */
function claimProblems(tree: Tree, path: Path): readonly UntracedProblem[] {
  const scopes = isObject(tree.scopes) ? Object.keys(tree.scopes) : [];
  const unknown = unknownName(
    [...path, 'scope'],
    'scope',
    valueAt(tree, [...path, 'scope']),
    scopes,
    ' in the catalogue',
  );
  const kind = valueAt(tree, ['login', 'kind']);
  const format = valueAt(tree, ['login', 'whoami', 'format']) ?? 'json';
  if (valueAt(tree, [...path, 'from']) === undefined) return unknown;
  if (typeof kind !== 'string' || (JSON_LOGINS.includes(kind) && format === 'json')) return unknown;
  const message = `needs a login that answers in JSON (${JSON_LOGINS.join(', ')}): use \`value\` with this one`;
  return [...unknown, { path: [...path, 'from'], at: 'value', message }];
}

/** A login page given as a path belongs to the existing site, which is only reachable at the origin with `site`. */
function loginWithoutSite(tree: Tree): readonly UntracedProblem[] {
  const path = ['login', ...(loginFacts(tree).page ?? [])];
  const url = valueAt(tree, path);
  if (typeof url !== 'string' || !url.startsWith('/') || isObject(tree.site)) return [];
  const message =
    'a path needs `site`, which serves the login page at `origin`; otherwise give the full URL of the login page';
  return [{ path, at: 'value', message }];
}

/** Reported here, because the operating system would only say "address in use" without naming the cause. */
function samePort(tree: Tree): readonly UntracedProblem[] {
  const path = ['listen', 'admin', 'port'];
  const port = valueAt(tree, path) ?? 9090;
  if (port === 0 || port !== (valueAt(tree, ['listen', 'port']) ?? 8080)) return [];
  return [{ path, at: 'value', message: 'must differ from listen.port' }];
}

/** An embedded store generates its own secret. If two replicas did so, neither could read what the other wrote. */
function sharedStoreWithoutSecret(tree: Tree): readonly UntracedProblem[] {
  const kind = valueAt(tree, ['store', 'kind']);
  if (!isSharedStore(kind) || tree.secret !== undefined) return [];
  const message = `a ${kind} store needs \`secret\`, the same for every replica, such as { env: COURSEGATE_SECRET }`;
  return [{ path: ['store', 'kind'], at: 'value', message }];
}

/** The kernel deals connections out to all processes on the port: each must know what the others have issued. */
function sharedPortWithoutSharedStore(tree: Tree): readonly UntracedProblem[] {
  if (valueAt(tree, ['listen', 'reusePort']) !== true || isSharedStore(valueAt(tree, ['store', 'kind']))) return [];
  const message =
    'needs a store that replicas share, such as `store: { kind: redis }`: an embedded store belongs to one process';
  return [{ path: ['listen', 'reusePort'], at: 'value', message }];
}
