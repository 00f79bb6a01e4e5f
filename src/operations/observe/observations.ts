import type { RouteConfig } from '../../config/schema.ts';
import type { Caller } from './caller.ts';
import { pathTemplate } from './path-template.ts';

/** What enforcement would have done with a request that was let through; `none`: let it through as well. */
export type ObservedRefusal =
  | 'none'
  | 'no_token'
  | 'unknown_token'
  | 'anonymous'
  | 'method_not_allowed'
  | 'spelling'
  | 'no_route';

/** One finished request. */
export interface Seen {
  readonly method: string;
  /** Canonical path. The query and the body are not recorded. */
  readonly path: string;
  /** The configured route that matched, if any. */
  readonly route: RouteConfig | undefined;
  readonly refusal: ObservedRefusal;
  /** Whether the request had a valid member token or a session cookie. The cookie is not verified. */
  readonly signedIn: boolean;
  readonly caller: Caller;
  readonly status: number;
  /** Media type of the site's response; '' if it sent none. */
  readonly mediaType: string;
}

/** Counts for one method on one path pattern. */
export type Observation = ReturnType<typeof observed>;

/** Distinct names in one position of a path. With more than this, they are taken to be ids. */
const NAMES_AT_ONE_PLACE = 48;
const MOST = 2000;
const MOST_TYPES = 4;
const STANDARD = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/;

/**
 * Counts requests in bounded memory, whatever clients request: ids are folded into `*` at once, other names when there
 * are too many in one position, and requests beyond `MOST` patterns are only counted as dropped. Paths that were not
 * found are not recorded, so that scanners cannot use up the space.
 */
export function createObservations() {
  const all = new Map<string, Observation>();
  /** By position: the beginning of a path, and whether the name is its last. */
  const names = new Map<string, Set<string>>();
  const wide = new Set<string>();
  let dropped = 0;

  const fold = (template: string): string => {
    const segments = template.slice(1).split('/');
    let prefix = '';
    for (const [at, segment] of segments.entries()) {
      const isWide = wide.has(placeOf(prefix, at === segments.length - 1));
      prefix += isWide && segment !== '' ? '/*' : `/${segment}`;
    }
    return prefix;
  };

  /** Records the names of a pattern. Returns whether some position now has too many names, so that patterns change. */
  const remember = (pattern: string): boolean => {
    const segments = pattern.slice(1).split('/');
    let prefix = '';
    let widened = false;
    for (const [at, name] of segments.entries()) {
      const last = at === segments.length - 1;
      const place = placeOf(prefix, last);
      prefix += `/${name}`;
      // The first segment of a longer path tells `/api` from `/blog` and is never folded.
      if (name === '*' || name === '' || (at === 0 && !last)) continue;
      const known = names.get(place) ?? new Set();
      names.set(place, known.add(name));
      if (known.size > NAMES_AT_ONE_PLACE) {
        wide.add(place);
        names.delete(place);
        widened = true;
      }
    }
    return widened;
  };

  const record = (one: Observation): void => {
    const key = keyOf(one.method, one.pattern, one.route);
    const other = all.get(key);
    if (other === undefined) all.set(key, one);
    else add(other, one);
  };

  const refold = (): void => {
    const before = [...all.values()];
    all.clear();
    names.clear();
    for (const one of before) {
      const pattern = one.route === undefined ? fold(one.pattern) : one.pattern;
      record({ ...one, pattern });
      if (one.route === undefined) remember(pattern);
    }
  };

  return {
    note(seen: Seen): void {
      const { route } = seen;
      const method = STANDARD.test(seen.method) ? (seen.method === 'HEAD' ? 'GET' : seen.method) : '*';
      const met = route === undefined ? undefined : patternOf(route.match);
      let pattern = met ?? fold(pathTemplate(seen.path));
      const isNew = !all.has(keyOf(method, pattern, route));
      if (isNew && (all.size >= MOST || pattern.length > 1024 || (route === undefined && isNothing(seen.status)))) {
        dropped += 1;
        return;
      }
      if (isNew && route === undefined && remember(pattern)) {
        refold();
        pattern = fold(pattern);
      }
      record(observed(method, pattern, seen));
    },
    /** Sorted by pattern, then method. */
    all: () => [...all.values()].toSorted((a, b) => compare(a.pattern, b.pattern) || compare(a.method, b.method)),
    /** Requests that were not recorded. */
    dropped: () => dropped,
  };
}

function isNothing(status: number): boolean {
  return status === 404 || status === 405 || status === 410 || status === 0;
}

/** The counts of one request. */
function observed(method: string, pattern: string, seen: Seen) {
  const { route, status, signedIn, caller, refusal, mediaType } = seen;
  const succeeded = status > 0 && status < 400;
  return {
    method,
    pattern,
    route,
    requests: 1,
    signedIn: Number(signedIn),
    /** Requests answered with a status below 400, and how many of these were anonymous. */
    succeeded: Number(succeeded),
    anonymousSucceeded: Number(succeeded && !signedIn),
    /** Who seems to have sent the requests that the site knew; of unknown senders, only those that succeeded. */
    callers: new Map<Caller, number>(isNothing(status) || (caller === 'other' && !succeeded) ? [] : [[caller, 1]]),
    /** Requests by status, by what enforcement would have done, and by media type (at most four). */
    statuses: new Map([[status, 1]]),
    refusals: new Map([[refusal, 1]]),
    mediaTypes: new Map(succeeded ? [[mediaType, 1]] : []),
  };
}

function add(into: Observation, from: Observation): void {
  into.requests += from.requests;
  into.signedIn += from.signedIn;
  into.succeeded += from.succeeded;
  into.anonymousSucceeded += from.anonymousSucceeded;
  for (const [caller, times] of from.callers) increase(into.callers, caller, times);
  for (const [status, times] of from.statuses) increase(into.statuses, status, times);
  for (const [refusal, times] of from.refusals) increase(into.refusals, refusal, times);
  for (const [type, times] of from.mediaTypes)
    if (into.mediaTypes.has(type) || into.mediaTypes.size < MOST_TYPES) increase(into.mediaTypes, type, times);
}

function increase<K>(counts: Map<K, number>, key: K, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function placeOf(prefix: string, last: boolean): string {
  return `${last ? 'end' : 'way'} ${prefix}`;
}

function keyOf(method: string, pattern: string, route: RouteConfig | undefined): string {
  return `${route === undefined ? 'site' : route.match} ${method} ${pattern}`;
}

function patternOf(match: string): string {
  return match.slice(match.indexOf(' ') + 1);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
