import { loginCookies, loginPage } from '../login/kinds.ts';
import { appAddress, knownPageCalls } from './page-calls.ts';
import type { UntracedProblem } from './problems.ts';
import { overlap, segmentsOf } from './route-order.ts';
import { type Config, parseMatch, type RouteConfig } from './schema.ts';

/**
 * Finds routes at addresses that the site's own pages are known to call: those of its framework, and those that sign
 * members in. A route takes its address from the site for every method, and the pages have no token.
 */
export function pageCallWarnings(config: Config): readonly UntracedProblem[] {
  if (!sharesOrigin(config)) return [];
  return config.routes.flatMap((route, index): UntracedProblem[] => {
    const { pattern } = parseMatch(route.match);
    const message = frameworkAddress(route, pattern) ?? signInAddress(config, route, pattern);
    return message === undefined ? [] : [{ path: ['routes', index, 'match'], at: 'value', message }];
  });
}

/** Advice for a route at an address that pages call: the same route at an address for apps. */
export function atAppAddress({ match, rewrite, forwardedBy }: RouteConfig): string {
  const { pattern } = parseMatch(match);
  const moved = match.slice(0, -pattern.length) + appAddress(pattern);
  const without = forwardedBy === 'gateway' ? ', without forwardedBy' : '';
  return `Give apps an address of their own: match: "${moved}", rewrite: "${rewrite ?? pattern}"${without}`;
}

/** Whether the site may have its own addresses at the origin, where routes could take them over. */
function sharesOrigin({ site, login, origin }: Config): boolean {
  const page = loginPage(login);
  return site !== undefined || page === undefined || page.startsWith('/') || URL.parse(page)?.origin === origin;
}

function frameworkAddress(route: RouteConfig, pattern: string): string | undefined {
  const known = knownPageCalls(pattern);
  if (known === undefined) return undefined;
  return known.api
    ? `takes over an address that is called by ${known.by} with the site's own session or keys, and would refuse them. ${atAppAddress(route)}`
    : `takes over an address that is called by ${known.by}, would refuse them, and is not meant for apps: remove this route`;
}

function signInAddress({ login, origin }: Config, route: RouteConfig, pattern: string): string | undefined {
  const matches = (address: string) => {
    const url = URL.parse(address, origin);
    return url?.origin === origin && overlap(segmentsOf(pattern), segmentsOf(url.pathname));
  };
  const page = loginPage(login);
  if (page !== undefined && matches(page))
    return 'takes over the page on which members sign in: choose a narrower path';
  const asksWithCookies = 'whoami' in login && loginCookies(login).length > 0;
  return asksWithCookies && login.upstream === route.upstream && matches(login.whoami.path)
    ? `takes over login.whoami.path, which answers to the site's own session: pages that call it would be refused. ${atAppAddress(route)}`
    : undefined;
}
