import { parseMatch, type RouteConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import type { ParameterNames } from './parameter-name.ts';
import type { Routed } from './routing.ts';
import type { Target } from './target.ts';

/**
 * In a route, the placeholder for the id of the member who sends the request: the principal's, whatever the request
 * says.
 */
export const MEMBER_ID = '{member.id}';

/** The methods and the pattern of a configured route: any id matches at first. */
export function routedBy({ match }: RouteConfig): Pick<Routed<RouteConfig>, 'methods' | 'pattern'> {
  const { methods, pattern } = parseMatch(match);
  return { methods, pattern: pattern.replaceAll(MEMBER_ID, '*') };
}

/**
 * Restricts a route to the member's own records. Returns the target to send to the upstream, or undefined if the path
 * names another member's record.
 */
export type OwnRecord = (target: Target, principal: Principal) => Target | undefined;

/**
 * A segment `{member.id}` of the pattern must equal the member's own id, byte for byte once decoded. Parameters in
 * `set` are set from the principal. What the client sent under any of `names`, in any spelling that a server might
 * accept for them, is removed.
 * Throws GatewayError `internal` if the principal is not a member: such a route is never served anonymously.
 * @param set the query parameters that the route sets
 * @param names the names that are reserved for the member's id
 */
export function ownRecord(pattern: string, set: readonly string[], names: ParameterNames | undefined): OwnRecord {
  const places = pattern.split('/').flatMap((segment, at) => (segment === MEMBER_ID ? [at] : []));
  if (places.length === 0 && names === undefined) return (target) => target;

  return (target, principal) => {
    if (principal.kind !== 'member') throw new GatewayError('internal');
    const segments = target.path.split('/');
    // A canonical path can always be decoded: any other was refused earlier.
    if (places.some((at) => decodeURIComponent(segments[at] ?? '') !== principal.sub)) return undefined;
    if (names === undefined) return target;
    const ours = set.map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(principal.sub)}`);
    const query = [...ours, ...names.othersIn(target.query)].join('&');
    return { path: target.path, query: query === '' ? '' : `?${query}` };
  };
}
