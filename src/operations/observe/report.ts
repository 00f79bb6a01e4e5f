import { parseMatch, type RouteConfig } from '../../config/schema.ts';
import type { Observation } from './observations.ts';
import type { RouteMap } from './route-map.ts';
import { NO_TRAFFIC } from './traffic.ts';

/** What observe mode has counted, and the routes that it proposes. */
export interface ObservedReport extends RouteMap {
  readonly since: Date;
  /** Since when no request has arrived, if that is too long. */
  readonly quietSince: Date | undefined;
  /** Requests that were not recorded. */
  readonly dropped: number;
  readonly observed: readonly Observation[];
}

/** The proposal as part of a configuration file, each line with the evidence for it as a comment. */
export function routeMapYaml({ routes, notes, since, quietSince }: ObservedReport): string {
  const lines = [
    ...(quietSince === undefined ? [] : [`# ${NO_TRAFFIC} Nothing since ${quietSince.toISOString()}.`]),
    `# Proposed by coursegate from the requests since ${since.toISOString()}. Read it before you use it:`,
    '# it leaves out what nobody used in that time, and includes everything that was used, wanted or not.',
    '# What the site’s own pages call keeps its address: apps get another one, with `rewrite`.',
    '# Then replace `routes` with it, and remove `enforcement`.',
    routes.length === 0 ? 'routes: []' : 'routes:',
    ...routes.map(({ route, evidence }) => `  - ${routeYaml(route)}  # ${evidence}`),
    ...(notes.length === 0 ? [] : ['', '# Left out, or worth a look:', ...notes.map((note) => `# - ${note}`)]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Writes a route in YAML's flow style. JSON is valid YAML; quotes are omitted where the result is easier to read. */
export function routeYaml(route: RouteConfig): string {
  const { match, upstream, scopes, limits, bodyLimit, ...others } = route;
  const rest = {
    ...others,
    limits: limits === undefined ? undefined : limitsAsWritten(limits),
    bodyLimit: sizeAsWritten(bodyLimit),
  };
  const bare = (text: string) => (/^[a-z][a-z0-9_:-]*[a-z0-9]$/.test(text) ? text : JSON.stringify(text));
  const members = [
    `match: ${JSON.stringify(match)}`,
    `upstream: ${bare(upstream)}`,
    `scopes: [${scopes.map(bare).join(', ')}]`,
    ...Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${key}: ${typeof value === 'string' ? bare(value) : JSON.stringify(value)}`),
  ];
  return `{ ${members.join(', ')} }`;
}

/** In the units an operator would write: the parsed configuration has seconds and bytes. */
function limitsAsWritten(limits: NonNullable<RouteConfig['limits']>): object {
  return Object.fromEntries(
    Object.entries(limits).map(([whose, rate]) => [
      whose,
      rate === undefined ? 'unlimited' : { requests: rate.requests, per: `${rate.per}s` },
    ]),
  );
}

function sizeAsWritten(bytes: number | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  return bytes === Number.POSITIVE_INFINITY ? 'unlimited' : `${bytes}B`;
}

/** Everything that was counted, in machine-readable form. */
export function observedJson({ routes, notes, since, quietSince, dropped, observed }: ObservedReport): object {
  return {
    since,
    quietSince,
    dropped,
    observed: observed.map(({ method, pattern, route, callers, statuses, refusals, mediaTypes, ...counts }) => ({
      method,
      path: pattern,
      ...(route === undefined ? {} : { route: route.match, methods: parseMatch(route.match).methods }),
      ...counts,
      callers: Object.fromEntries(callers),
      statuses: Object.fromEntries(statuses),
      wouldHave: Object.fromEntries(refusals),
      mediaTypes: Object.fromEntries(mediaTypes),
    })),
    proposal: { routes: routes.map(({ route }) => route), notes },
  };
}
