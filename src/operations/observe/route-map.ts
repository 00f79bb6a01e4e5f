import { ownPathIn } from '../../config/route-checks.ts';
import type { RouteConfig, ScopeConfig } from '../../config/schema.ts';
import type { Observation } from './observations.ts';
import { suggestScope } from './suggested-scope.ts';

/** A proposed route and the observed requests that justify it. */
type ProposedRoute = ReturnType<typeof proposed>;

export interface RouteMap {
  readonly routes: readonly ProposedRoute[];
  /** What was left out and why, one line each. */
  readonly notes: readonly string[];
}

export interface RouteMapOptions {
  readonly observed: readonly Observation[];
  readonly dropped: number;
  readonly configured: readonly RouteConfig[];
  /** The site's upstream. */
  readonly site: string;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
}

/**
 * Proposes the smallest route map that fits the observed requests: a route for each pattern that returned data, with
 * the methods that were used. It is public if no request was signed in; otherwise it needs the scope of the catalogue
 * that the path names. Configured routes stay unchanged if a request matched them. Pages, scripts and images are left
 * to the site.
 */
export function proposeRouteMap({ observed, dropped, configured, site, scopes }: RouteMapOptions): RouteMap {
  const routes: ProposedRoute[] = [];
  const notes: string[] = [];
  const used = new Set(observed.filter((one) => one.succeeded > 0).map((one) => one.route));
  for (const route of configured) {
    const met = observed.filter((one) => one.route === route);
    if (used.has(route)) routes.push({ route, evidence: evidenceOf(met) });
    else notes.push(`${route.match}: a route that nothing was got by; left out`);
  }
  let pages = 0;
  for (const one of observed.filter(({ route }) => route === undefined)) {
    const name = `${one.method} ${one.pattern}`;
    if (one.succeeded === 0) notes.push(`${name}: only errors (${tally(one.statuses)}); left out`);
    else if (!isData(one)) pages += one.requests;
    else if (one.method === 'OPTIONS') continue;
    else if (one.method === '*') notes.push(`${one.pattern}: by a method that is not in common use; left out`);
    else if (ownPathIn(one.pattern) !== undefined)
      notes.push(`${name}: takes in addresses of coursegate itself; left out`);
    else routes.push(proposed(one, site, scopes, notes));
  }
  if (pages > 0) notes.push(`${pages} requests for pages, scripts and pictures: the site's own, by \`site\``);
  if (dropped > 0) notes.push(`${dropped} requests of which nothing is kept: found nothing, or too many addresses`);
  return { routes: mostSpecificFirst(routes), notes };
}

function proposed(one: Observation, site: string, scopes: RouteMapOptions['scopes'], notes: string[]) {
  const match = `${one.method} ${one.pattern}`;
  const reads = one.method === 'GET';
  const isPublic = reads && one.signedIn === 0;
  const { scope, fits } = suggestScope(one.pattern, reads ? 'read' : 'write', scopes);
  if (!isPublic && !fits) notes.push(`${match}: no scope of the catalogue is called like it; ${scope} is a guess`);
  if (!isPublic && one.anonymousSucceeded > 0)
    notes.push(
      `${match}: ${one.anonymousSucceeded} got it without being signed in: anonymous: serve, if everybody may`,
    );
  const route: RouteConfig = isPublic
    ? { match, upstream: site, scopes: [], anonymous: 'serve' }
    : { match, upstream: site, scopes: [scope], anonymous: 'refuse' };
  return { route, evidence: evidenceOf([one]) };
}

/** Whether a pattern serves data. A POST answered with a page or a redirect is a form of the site. */
function isData({ method, mediaTypes }: Observation): boolean {
  const types = [...mediaTypes.keys()];
  if (types.some((type) => /[/+](json|xml|csv|x-ndjson|calendar|protobuf|msgpack|event-stream)$/.test(type)))
    return true;
  return method !== 'GET' && method !== 'POST' && types.includes('');
}

/** Routes are matched in order, so a literal name has to come before `*`. */
function mostSpecificFirst(routes: readonly ProposedRoute[]): readonly ProposedRoute[] {
  const key = ({ route }: ProposedRoute) =>
    route.match
      .slice(route.match.indexOf(' ') + 1)
      .replaceAll('**', '\u{10FFFF}')
      .replaceAll('*', '\u{10FFFE}');
  return routes.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

function evidenceOf(all: readonly Observation[]): string {
  const sum = (of: (one: Observation) => number) => all.reduce((total, one) => total + of(one), 0);
  const statuses = new Map<number, number>();
  for (const one of all) for (const [status, n] of one.statuses) statuses.set(status, (statuses.get(status) ?? 0) + n);
  const [requests, signedIn] = [sum((one) => one.requests), sum((one) => one.signedIn)];
  return `${requests} ${requests === 1 ? 'request' : 'requests'}, ${signedIn} signed in; ${tally(statuses)}`;
}

function tally(counts: ReadonlyMap<number, number>): string {
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([status, times]) => `${status === 0 ? 'cut off' : status} x${times}`)
    .join(', ');
}
