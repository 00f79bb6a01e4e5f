import type { IncomingMessage } from 'node:http';
import { type RouteConfig, segmentNames } from '../config/route.ts';
import { decodedComponent } from '../http/percent.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import { requestFraming } from '../upstream/framing.ts';
import { parameterNames } from '../upstream/parameter-name.ts';
import type { Target } from '../upstream/target.ts';
import { type CoursePlace, meets, neededRole, placesOf } from './settings-rule.ts';

type Asking = Pick<IncomingMessage, 'method' | 'headers'>;

/** The role that a route needs. */
export interface RouteRole {
  /** For the answer to a member without it. */
  readonly refusal: string;
  /**
   * Whether the member may send this request. Throws, or rejects with, GatewayError `login_unavailable` if the roles
   * cannot be read.
   */
  isHeld(principal: MemberPrincipal, target: Target, request: Asking): boolean | Promise<boolean>;
}

/** The role that a route needs, in proxy mode and in plugin mode; undefined if it needs none. */
export function routeRole(
  { match, role: rule }: Pick<RouteConfig, 'match' | 'role'>,
  rolesOf: RolesOf,
): RouteRole | undefined {
  if (rule === undefined) return undefined;
  const segments = segmentNames(match);
  const query = new Map(
    placesOf(rule).flatMap((place) => (place.in === 'query' ? [[place.name, queryValue(place.name)] as const] : [])),
  );
  return {
    refusal: neededRole(rule),
    isHeld({ sub }, target, request) {
      const courseAt = ({ in: where, name }: CoursePlace) =>
        where === 'path'
          ? decodedComponent(target.path.split('/')[segments.get(name) ?? -1] ?? '')
          : query.get(name)?.(target.query, request);
      const roles = rolesOf(sub);
      return roles instanceof Promise
        ? roles.then((found) => meets(rule, found, courseAt))
        : meets(rule, roles, courseAt);
    },
  };
}

/**
 * Reads a query parameter as every backend reads it: it is there once, in exactly this spelling, and no body could
 * overrule it. Otherwise undefined.
 */
function queryValue(name: string): (query: string, request: Asking) => string | undefined {
  const names = parameterNames([name]);
  return (query, request) => {
    const others = new Set(names.othersIn(query));
    const [found = '', another] = query
      .slice(1)
      .split('&')
      .filter((piece) => piece !== '' && !others.has(piece));
    const clear = another === undefined && !found.includes(';') && !names.hiddenIn(query);
    if (!clear || requestFraming(request as IncomingMessage).kind !== 'none' || !found.startsWith(`${name}=`))
      return undefined;
    const value = decodedComponent(found.slice(name.length + 1).replaceAll('+', ' '));
    // The backend may decode it again.
    return value?.includes('%') === true ? undefined : value;
  };
}
