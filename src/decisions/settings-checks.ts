import type { UntracedProblem } from '../config/problems.ts';
import { nameOf, overlap, type RouteMatch, routeMatches, segmentsOf } from '../config/route-order.ts';
import { type Path, type Tree, valueAt } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';

/** What coursegate does to a request or its response that a gateway does not do. */
const NOT_IN_A_GATEWAY = ['query', 'body', 'rewrite', 'rewriteLinks', 'bodyLimit'] as const;

/**
 * Refuses what cannot hold when a gateway forwards the requests. Takes the merged settings before they are validated.
 */
export function checkDecisions(tree: Tree): readonly UntracedProblem[] {
  const routes = routeMatches(tree);
  const forwards = (by: string) =>
    routes.filter((one) => (valueAt(tree, [...routeOf(one), 'forwardedBy']) ?? 'coursegate') === by);
  const [byGateway, byUs] = [forwards('gateway'), forwards('coursegate')];
  return [
    ...withoutSecret(tree),
    ...byGateway.flatMap((one) => [...unsuitable(tree, routeOf(one)), ...crossing(one, byUs)]),
  ];
}

function routeOf({ path }: RouteMatch): Path {
  return path.slice(0, -1);
}

function withoutSecret(tree: Tree): readonly UntracedProblem[] {
  const at: Path = ['listen', 'decisions'];
  const given = valueAt(tree, at);
  if (!isObject(given) || given.secret !== undefined) return [];
  const overTcp = typeof given.address === 'string' && !given.address.startsWith('unix:');
  const message = 'needs `secret`, because others on the network could ask too; only a Unix socket needs none';
  return overTcp ? [{ path: at, at: 'key', message }] : [];
}

function unsuitable(tree: Tree, route: Path): readonly UntracedProblem[] {
  const path: Path = [...route, 'forwardedBy'];
  const found = (message: string): UntracedProblem => ({ path, at: 'value', message });
  const upstream = ['upstreams', String(valueAt(tree, [...route, 'upstream']))];
  const url = valueAt(tree, [...upstream, 'url']);
  const through = 'send this route through coursegate: take `forwardedBy` out';
  return [
    ...(isObject(valueAt(tree, ['listen', 'decisions']))
      ? []
      : [found('needs `listen.decisions`, where the gateway asks')]),
    ...NOT_IN_A_GATEWAY.filter((key) => valueAt(tree, [...route, key]) !== undefined).map((key) =>
      found(`a gateway cannot apply \`${key}\`: ${through}`),
    ),
    ...(valueAt(tree, [...upstream, 'credential']) === undefined
      ? []
      : [found(`a gateway cannot send the \`credential\` of the upstream: ${through}`)]),
    ...(typeof url === 'string' && URL.canParse(url) && new URL(url).pathname !== '/'
      ? [found(`a gateway cannot prepend the path in the upstream's \`url\`: ${through}`)]
      : []),
    ...(valueAt(tree, ['enforcement', 'mode']) === 'observe'
      ? [found('observe mode sees only requests that go through coursegate: take `forwardedBy` out for now')]
      : []),
  ];
}

/** A gateway chooses by the path, and for one and the same path by the method. */
function crossing(route: RouteMatch, others: readonly RouteMatch[]): readonly UntracedProblem[] {
  const other = others.find(
    ({ pattern }) => pattern !== route.pattern && overlap(segmentsOf(pattern), segmentsOf(route.pattern)),
  );
  if (other === undefined) return [];
  const message = `shares paths with ${nameOf(other)}, which coursegate forwards: use the same path in both, or forward both in the same way`;
  return [{ path: [...routeOf(route), 'forwardedBy'], at: 'value', message }];
}
