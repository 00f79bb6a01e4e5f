import type { IncomingMessage } from 'node:http';
import { type RouteConfig, segmentNames } from '../config/route.ts';
import { decodedComponent } from '../http/percent.ts';
import type { RolesOf } from '../oauth/member-roles.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import { requestFraming } from '../upstream/framing.ts';
import type { Target } from '../upstream/target.ts';
import { type CourseBody, courseBody, courseParameter, type SentBody } from './course-in-request.ts';
import { type CoursePlace, meets, neededRole, placesOf } from './settings-rule.ts';

type Asking = Pick<IncomingMessage, 'method' | 'headers'>;

/** The role that a route needs. */
export interface RouteRole {
  /** For the answer to a member without it. */
  readonly refusal: string;
  /** Set if the course is in the body, which has to be read first. */
  readonly body: CourseBody | undefined;
  /**
   * Whether the member may send this request. Throws, or rejects with, GatewayError `login_unavailable` if the roles
   * cannot be read.
   * @param inBody the courses that `body` found
   */
  isHeld(
    principal: MemberPrincipal,
    target: Target,
    request: Asking,
    inBody?: SentBody['courses'],
  ): boolean | Promise<boolean>;
}

/**
 * The role that a route needs, in proxy mode and in plugin mode; undefined if it needs none.
 * @param limit maximum size of a body in bytes
 */
export function routeRole(
  { match, role: rule }: Pick<RouteConfig, 'match' | 'role'>,
  rolesOf: RolesOf,
  limit: number,
): RouteRole | undefined {
  if (rule === undefined) return undefined;
  const segments = segmentNames(match);
  const named = (where: CoursePlace['in']) => placesOf(rule).flatMap((place) => (place.in === where ? place.name : []));
  const query = new Map(named('query').map((name) => [name, queryValue(name)] as const));
  const inBodies = [...new Set(named('body'))];
  return {
    refusal: neededRole(rule),
    body: inBodies.length === 0 ? undefined : courseBody(inBodies, limit),
    isHeld({ sub }, target, request, inBody) {
      const courseAt = ({ in: where, name }: CoursePlace) => {
        if (where === 'body') return inBody?.get(name);
        return where === 'path'
          ? decodedComponent(target.path.split('/')[segments.get(name) ?? -1] ?? '')
          : query.get(name)?.(target.query, request);
      };
      const roles = rolesOf(sub);
      return roles instanceof Promise
        ? roles.then((found) => meets(rule, found, courseAt))
        : meets(rule, roles, courseAt);
    },
  };
}

/** Reads a query parameter that no body could overrule. Undefined if there is none, or if it is not clear. */
function queryValue(name: string): (query: string, request: Asking) => string | undefined {
  const read = courseParameter(name);
  return (query, request) => {
    const { value, isClear } = read(query);
    return isClear && requestFraming(request as IncomingMessage).kind === 'none' ? value : undefined;
  };
}
