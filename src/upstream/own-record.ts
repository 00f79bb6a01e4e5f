import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import type { ParameterNames } from './parameter-name.ts';
import type { Target } from './target.ts';

/** What stands in a route for the id of the member who asks: the principal's, whatever the request says. */
export const MEMBER_ID = '{member.id}';

/**
 * Keeps a route to the records of the member who asks. In: the canonical target and the principal. Out: the target as
 * the upstream may see it, or undefined when the path names somebody else's record.
 */
export type OwnRecord = (target: Target, principal: Principal) => Target | undefined;

/**
 * In: a route's path pattern, the query parameters that it sets, and the names that are the member's. A segment
 * `{member.id}` of the pattern must be the member's own id, to the byte once decoded. A parameter that the route sets is
 * set from the principal; what the client sent under any of the names, in any spelling that a server might take for it,
 * is removed.
 * Throws GatewayError `internal` for a principal that is no member: such a route serves nobody as anonymous.
 */
export function ownRecord(pattern: string, set: readonly string[], names: ParameterNames | undefined): OwnRecord {
  const places = pattern.split('/').flatMap((segment, at) => (segment === MEMBER_ID ? [at] : []));
  if (places.length === 0 && names === undefined) return (target) => target;

  return (target, principal) => {
    if (principal.kind !== 'member') throw new GatewayError('internal');
    const segments = target.path.split('/');
    // A canonical path decodes: what does not was refused at the door.
    if (places.some((at) => decodeURIComponent(segments[at] ?? '') !== principal.sub)) return undefined;
    if (names === undefined) return target;
    const sent = target.query.slice(1).split('&');
    const kept = sent.filter((piece) => piece !== '' && !names.inQuery(piece));
    const ours = set.map((name) => `${encodeURIComponent(name)}=${encodeURIComponent(principal.sub)}`);
    const query = [...ours, ...kept].join('&');
    return { path: target.path, query: query === '' ? '' : `?${query}` };
  };
}
