import type { UntracedProblem } from '../config/problems.ts';
import { nameOf, overlap, type RouteMatch, routeMatches, segmentsOf } from '../config/route-order.ts';
import type { Config } from '../config/schema.ts';
import { type Path, type Tree, valueAt } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';

/** What coursegate does to a request or its response that a gateway does not do. */
const NOT_IN_A_GATEWAY = ['query', 'body', 'rewrite', 'rewriteLinks', 'bodyLimit', 'approve'] as const;

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
    ...byGateway.flatMap((one) => [...unsuitable(tree, routeOf(one)), ...crossing(tree, one, byUs, byGateway)]),
  ];
}

/** The site, if it is not set although a gateway forwards requests. */
export function unknownSite({ routes, site }: Config): readonly UntracedProblem[] {
  if (site !== undefined || !hasGateway(routes)) return [];
  const message =
    'is not set, so pages of the site with an unusual address, such as one with `;` or `//`, get 404: the gateway sends them to coursegate, which judges them and then needs to know where the site is';
  return [{ path: ['site'], at: 'key', message }];
}

/** Upstreams that trust plain fields, although clients reach the site without coursegate. */
export function plainIdentity({ routes, upstreams }: Config): readonly UntracedProblem[] {
  if (!hasGateway(routes)) return [];
  const message =
    'has `headers`, which only a gateway that removes them from all requests to the site keeps from being forged. An nginx before 1.23 cannot, and answers 503 with its generated files: use a newer one, or [assertion] and a drop-in';
  return Object.entries(upstreams)
    .filter(([, { identity }]) => identity.includes('headers'))
    .map(([name]) => ({ path: ['upstreams', name, 'identity'], at: 'value', message }));
}

/** Whether a gateway forwards the requests of any of them. */
export function hasGateway(routes: Config['routes']): boolean {
  return routes.some(({ forwardedBy }) => forwardedBy === 'gateway');
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
  const upstream = ['upstreams', String(valueAt(tree, [...route, 'upstream']))];
  const url = valueAt(tree, [...upstream, 'url']);
  const through = 'send this route through coursegate: take `forwardedBy` out';
  const has = (at: Path) => valueAt(tree, at) !== undefined;
  const problems: readonly (readonly [isThere: boolean, message: string])[] = [
    [!isObject(valueAt(tree, ['listen', 'decisions'])), 'needs `listen.decisions`, where the gateway asks'],
    ...NOT_IN_A_GATEWAY.map((key) => [has([...route, key]), `a gateway cannot apply \`${key}\`: ${through}`] as const),
    [has([...upstream, 'credential']), `a gateway cannot send the \`credential\` of the upstream: ${through}`],
    [
      typeof url === 'string' && (URL.parse(url)?.pathname ?? '/') !== '/',
      `a gateway cannot prepend the path in the upstream's \`url\`: ${through}`,
    ],
    [
      valueAt(tree, ['enforcement', 'mode']) === 'observe',
      'observe mode sees only requests that go through coursegate: take `forwardedBy` out for now',
    ],
  ];
  return problems.filter(([isThere]) => isThere).map(([, message]) => ({ path, at: 'value', message }));
}

/** A gateway chooses by the path alone. */
function crossing(
  tree: Tree,
  route: RouteMatch,
  byUs: readonly RouteMatch[],
  byGateway: readonly RouteMatch[],
): readonly UntracedProblem[] {
  const upstreamOf = (one: RouteMatch) => valueAt(tree, [...routeOf(one), 'upstream']);
  const ours = byUs.find((one) => sharesPaths(one, route));
  const earlier = byGateway.slice(0, byGateway.indexOf(route));
  const other = earlier.find((one) => upstreamOf(one) !== upstreamOf(route) && sharesPaths(one, route));
  const message =
    ours === undefined
      ? other &&
        `shares paths with ${nameOf(other)}, which has another upstream, and a gateway chooses by the path alone: take \`forwardedBy\` out of both`
      : `shares paths with ${nameOf(ours)}, which coursegate forwards, and a gateway does not look at methods: forward both in the same way`;
  return message === undefined ? [] : [{ path: [...routeOf(route), 'forwardedBy'], at: 'value', message }];
}

function sharesPaths(one: RouteMatch, other: RouteMatch): boolean {
  return overlap(segmentsOf(one.pattern), segmentsOf(other.pattern));
}
