import { overlap, segmentsOf } from '../../config/route-order.ts';

/** Requests on one path pattern by one method, by who seems to have sent them (`Caller`). */
interface Called {
  readonly method: string;
  readonly pattern: string;
  readonly callers: ReadonlyMap<string, number>;
}

const SITE_CALLERS = ['credentials', 'form', 'session', 'page'];

/**
 * Whether the site's own pages or tools called a path that matches a pattern. A route with this pattern would refuse
 * them whatever their method, because a route takes its paths from the site completely. Reads by unknown senders do not
 * count, since a route can serve these.
 */
export function siteCalls(observed: readonly Called[]): (pattern: string) => boolean {
  const called = observed.filter(isSiteCall).map(({ pattern }) => segmentsOf(pattern));
  return (pattern) => {
    const wanted = segmentsOf(pattern);
    return called.some((segments) => overlap(wanted, segments));
  };
}

function isSiteCall({ method, callers }: Called): boolean {
  const reads = method === 'GET' || method === 'OPTIONS';
  return SITE_CALLERS.some((caller) => callers.has(caller)) || (!reads && callers.has('other'));
}
