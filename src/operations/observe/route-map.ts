import { appAddress, isAppAddress, knownPageCalls } from '../../config/page-calls.ts';
import { ownPathIn } from '../../config/route-checks.ts';
import { parseMatch, type RouteConfig, type ScopeConfig } from '../../config/schema.ts';
import { counted } from '../../http/amounts.ts';
import type { Observation } from './observations.ts';
import { siteCalls } from './site-calls.ts';
import { suggestScope } from './suggested-scope.ts';

/** A proposed route and the observed requests that justify it. */
interface ProposedRoute {
  readonly route: RouteConfig;
  /** The configured route that it is, or that it replaces at another address. */
  readonly configured?: RouteConfig;
  readonly evidence: string;
}

export type RouteMap = ReturnType<typeof proposeRouteMap>;

interface Observed {
  readonly observed: readonly Observation[];
  readonly dropped: number;
  readonly configured: readonly RouteConfig[];
  /** The site's upstream. */
  readonly site: string;
  readonly scopes: Readonly<Record<string, ScopeConfig>>;
}

/** As the report puts it. */
const CALLED = "called by the site's own pages or tools";
const UNUSED = 'a route that nothing was got by';

interface Parts extends Observed {
  /** Whether the site's own pages or tools called paths of a pattern. */
  readonly isCalled: (pattern: string) => boolean;
  readonly notes: string[];
}

/**
 * Proposes the smallest route map that fits the observed requests: a route for each pattern that returned data, with
 * the methods that were used. It is public if no request was signed in; otherwise it needs the scope of the catalogue
 * that the path names. What the site's own pages and clients call stays the site's: such a route gets an address for
 * apps, rewritten to that of the site. So do configured routes; the others stay unchanged if a request matched them.
 * Pages, scripts, images, forms and what frameworks keep for their own pages are left to the site.
 */
export function proposeRouteMap(options: Observed) {
  const { observed, dropped, configured } = options;
  const parts: Parts = { ...options, isCalled: siteCalls(observed), notes: [] };
  const { notes } = parts;
  const kept = configured.flatMap((route) => keptRoute(route, parts));
  const found: ProposedRoute[] = [];
  let pages = 0;
  for (const one of observed.filter(({ route }) => route === undefined)) {
    if (one.succeeded > 0 && !isData(one)) pages += one.requests;
    else if (one.method !== 'OPTIONS' || one.succeeded === 0) found.push(...foundRoute(one, parts));
  }
  const needs = new Set(found.flatMap(({ route }) => knownPageCalls(route.rewrite ?? '')?.needs ?? []));
  notes.push(...[...needs].map((need) => `Before apps can use these routes: ${need}`));
  if (pages > 0) notes.push(`${pages} requests for pages, scripts and pictures: the site's own, by \`site\``);
  if (dropped > 0) notes.push(`${dropped} requests of which nothing is kept: found nothing, or too many addresses`);
  const asConfigured = found.map((one) => {
    const same = configured.find(({ match }) => match === one.route.match);
    return same === undefined ? one : { ...one, route: same, configured: same };
  });
  const byMatch = new Map([...asConfigured, ...kept].map((one) => [one.route.match, one]));
  // What pages call is proposed again, even if no app has used the route for it yet.
  const proposedAgain = new Set([...byMatch.keys()].map((match) => `${match}: ${UNUSED}; left out`));
  return {
    routes: mostSpecificFirst([...byMatch.values()]),
    /** What was left out and why, one line each. */
    notes: notes.filter((note) => !proposedAgain.has(note)),
  };
}

/** A configured route as it is to be kept; none if it was not used. Routes to other upstreams are not observed. */
function keptRoute(route: RouteConfig, { observed, site, isCalled, notes }: Parts): readonly ProposedRoute[] {
  if (route.upstream !== site)
    return [{ route, configured: route, evidence: 'not observed: it does not lead to the site' }];
  const met = observed.filter((one) => one.route === route);
  const { pattern } = parseMatch(route.match);
  const known = knownPageCalls(pattern);
  const isCalledHere = !isAppAddress(pattern) && isCalled(pattern);
  const wasUsed = met.some(({ succeeded }) => succeeded > 0);
  if (!wasUsed || known?.api === false) {
    const why = wasUsed ? `its address is called by ${known?.by}` : UNUSED;
    notes.push(`${route.match}: ${why}; left out`);
    return [];
  }
  if (!isCalledHere && known === undefined) return [{ route, configured: route, evidence: evidenceOf(met) }];
  const who = isCalledHere ? CALLED : `called by ${known?.by}`;
  notes.push(`${route.match}: ${who}, whom this route would refuse; apps get ${appAddress(pattern)}`);
  return [{ route: forApps(route), configured: route, evidence: `${evidenceOf(met)}; ${who}` }];
}

/** A route for what no route is configured for; none, with a note, if apps should not have it. */
function foundRoute(one: Observation, parts: Parts): readonly ProposedRoute[] {
  const suggested = suggestScope(one.pattern, one.method === 'GET' ? 'read' : 'write', parts.scopes);
  const reason = whyNot(one, suggested.fits);
  if (reason === undefined) return [proposed(one, suggested, parts)];
  parts.notes.push(`${one.method === '*' ? one.pattern : `${one.method} ${one.pattern}`}: ${reason}; left out`);
  return [];
}

/** Why apps should not have what was observed; undefined if they may. */
function whyNot(one: Observation, fits: boolean): string | undefined {
  const { method, pattern, callers } = one;
  if (one.succeeded === 0) return `only errors (${tally(one.statuses)})`;
  if (method === '*') return 'by a method that is not in common use';
  if (ownPathIn(pattern) !== undefined) return 'takes in addresses of coursegate itself';
  const known = knownPageCalls(pattern);
  if (known?.api === false) return `called by ${known.by}, and not meant for apps`;
  if (known !== undefined && !fits) return `called by ${known.by}, and no scope of the catalogue is called like it`;
  const total = [...callers.values()].reduce((sum, times) => sum + times, 0);
  if (total > 0 && callers.get('form') === total) return 'a form of the site’s pages';
  if (method !== 'GET' && callers.get('other') === total)
    return 'sent without signing in, as other services report events';
  return undefined;
}

function proposed(
  one: Observation,
  { scope, fits }: ReturnType<typeof suggestScope>,
  { site, isCalled, notes }: Parts,
): ProposedRoute {
  const isCalledHere = isCalled(one.pattern);
  const isPublic = one.method === 'GET' && one.signedIn === 0 && !one.callers.has('credentials');
  const plain: RouteConfig = {
    match: `${one.method} ${one.pattern}`,
    upstream: site,
    scopes: isPublic ? [] : [scope],
    anonymous: isPublic ? 'serve' : 'refuse',
  };
  const isSites = isCalledHere || knownPageCalls(one.pattern) !== undefined;
  const route = isSites ? forApps(plain) : plain;
  if (!isPublic && !fits)
    notes.push(`${route.match}: no scope of the catalogue is called like it; ${scope} is a guess`);
  if (!isPublic && one.anonymousSucceeded > 0)
    notes.push(
      `${route.match}: ${one.anonymousSucceeded} got it without being signed in: anonymous: serve, if everybody may`,
    );
  return { route, evidence: isCalledHere ? `${evidenceOf([one])}; ${CALLED}` : evidenceOf([one]) };
}

/** The route at an address for apps. */
function forApps(route: RouteConfig): RouteConfig {
  const { pattern } = parseMatch(route.match);
  const methods = route.match.slice(0, -pattern.length);
  return { ...route, match: methods + appAddress(pattern), rewrite: route.rewrite ?? pattern };
}

/** Whether a pattern serves data. A POST answered with a page or a redirect is a form of the site. */
function isData({ method, mediaTypes }: Observation): boolean {
  // SVG and XHTML are XML too.
  const types = [...mediaTypes.keys()].filter((type) => !/^(image\/|application\/xhtml)/.test(type));
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
  return `${counted(requests, 'request')}, ${signedIn} signed in; ${tally(statuses)}`;
}

function tally(counts: ReadonlyMap<number, number>): string {
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([status, times]) => `${status === 0 ? 'cut off' : status} x${times}`)
    .join(', ');
}
