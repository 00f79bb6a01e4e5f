import { isDeepStrictEqual } from 'node:util';
import type { RouteConfig } from '../config/schema.ts';
import type { Principal } from '../oauth/principal.ts';
import { covers } from '../oauth/scope.ts';
import type { Routing } from '../upstream/routing.ts';
import type { Route } from './route.ts';

/**
 * Whether a request that `route` admitted would be admitted with another method as well: the route of that method is
 * the same one, or it is like it in everything but its methods and scopes (upstream, rewriting, own-record guard,
 * limits), and the principal has its scopes too.
 */
export function admitsAlike(
  routing: Routing<Route>,
  method: string,
  path: string,
  route: Route,
  principal: Principal,
): boolean {
  const found = routing(method, path);
  if (found.kind !== 'route') return false;
  const other = found.route.value;
  if (other === route) return true;
  if (other.protection === 'public' || route.protection === 'public') return false;
  if (other.entry === undefined || route.entry === undefined) return false;
  return (
    other.protection.resource === route.protection.resource &&
    isDeepStrictEqual(treatment(other.entry), treatment(route.entry)) &&
    (principal.kind === 'member'
      ? covers(principal.scope, other.protection.scopes)
      : other.protection.anonymous === 'serve')
  );
}

/** What a route does with a request: everything except its methods, its scopes and its description. */
function treatment({ match, scopes: _, ...rest }: RouteConfig): object {
  return { ...rest, path: match.slice(match.indexOf(' ')) };
}
