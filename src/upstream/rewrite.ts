import { GatewayError } from '../errors.ts';
import { decodedComponent } from '../http/percent.ts';
import type { Principal } from '../oauth/principal.ts';
import { MEMBER_ID } from './own-record.ts';
import { canonicalPath } from './target.ts';

/** Maps between a route's public paths and the upstream's. */
export interface Rewrite {
  /** Takes a canonical path that the route matches, returns the upstream's canonical path for it. */
  inward(path: string): string;
  /** Takes a path of the upstream, returns the public path for it; undefined if the route does not cover it. */
  outward(path: string): string | undefined;
}

/**
 * A route's rewriting for one principal. Throws GatewayError `internal` if the path needs a member id and the principal
 * is not a member, or if that id cannot be one path segment (it is empty, `..`, or contains a slash).
 */
export type RewriteFor = (principal: Principal) => Rewrite;

/**
 * Creates the rewriting of a route from two patterns in the syntax of a route's `match`. Both must have the same number
 * of `*`, and both or neither must end in `**`; wildcards correspond in order. `{member.id}` is the principal's id on
 * either side, whatever the request says there.
 * Whole segments of a canonical path are placed between literal ones, so nothing can become `..`, a query or another
 * segment. Throws TypeError if the patterns do not fit together, or if the second cannot be a canonical path.
 */
export function createRewrite(match: string, rewrite: string): RewriteFor {
  const [from, to] = [segmentsOf(match), segmentsOf(rewrite)];
  for (const wildcard of ['*', '**']) {
    if (count(from, wildcard) !== count(to, wildcard))
      throw new TypeError(`The route pattern ${match} cannot be rewritten to ${rewrite}: the wildcards differ.`);
  }
  if (to.slice(0, -1).some((segment) => segment === '' || segment === '**'))
    throw new TypeError(`${rewrite} is no path that a request could be rewritten to.`);
  const forMember = (member: Member | undefined): Rewrite => ({
    inward(path) {
      const rewritten = translate(path, from, to, member);
      if (rewritten === undefined) throw new Error(`${match} does not match the path that was routed by it.`);
      return rewritten;
    },
    outward: (path) => translate(path, to, from, member),
  });
  const anyones = forMember(undefined);
  const own = from.includes(MEMBER_ID) || to.includes(MEMBER_ID);
  return (principal) => (own ? forMember(memberOf(principal)) : anyones);
}

/** The member whose id is part of a path. */
interface Member {
  readonly id: string;
  /** The id, encoded as one segment of a canonical path. */
  readonly segment: string;
}

function memberOf(principal: Principal): Member {
  if (principal.kind !== 'member') throw new GatewayError('internal');
  const id = principal.sub;
  const segment = id.isWellFormed() ? encodeURIComponent(id) : '';
  if (segment === '' || canonicalPath(`/${segment}`) !== `/${segment}`)
    throw new GatewayError('internal', { cause: new Error('The id of this member cannot be a part of a path.') });
  return { id, segment };
}

function segmentsOf(pattern: string): readonly string[] {
  const canonical = canonicalPath(pattern.replace(/[^\x21-\x7E]+/g, encodeURIComponent));
  if (canonical === undefined) throw new TypeError(`${pattern} is no canonical path.`);
  const given = pattern.split('/');
  return canonical
    .split('/')
    .map((segment, at) => (given[at] === MEMBER_ID ? MEMBER_ID : segment))
    .slice(1);
}

function count(segments: readonly string[], wanted: string): number {
  return segments.filter((segment) => segment === wanted).length;
}

function translate(
  path: string,
  from: readonly string[],
  to: readonly string[],
  member: Member | undefined,
): string | undefined {
  const segments = path.slice(1).split('/');
  const matched: string[] = [];
  for (const [at, pattern] of from.entries()) {
    if (pattern === '**') return compose(to, matched, segments.slice(at), member);
    const segment = segments[at];
    if (segment === undefined || !fits(segment, pattern, member)) return undefined;
    if (pattern === '*') matched.push(segment);
  }
  return segments.length === from.length ? compose(to, matched, [], member) : undefined;
}

/** An upstream's Location may not be canonical, or may not even decode. */
function fits(segment: string, pattern: string, member: Member | undefined): boolean {
  return pattern === '*' || (pattern === MEMBER_ID ? decodedComponent(segment) === member?.id : segment === pattern);
}

function compose(
  to: readonly string[],
  matched: readonly string[],
  rest: readonly string[],
  member: Member | undefined,
): string {
  const left = [...matched];
  const filled = to.flatMap((pattern) => {
    if (pattern === '**') return rest;
    if (pattern === '*') return left.shift() as string;
    return pattern === MEMBER_ID ? (member as Member).segment : pattern;
  });
  return `/${filled.join('/')}`;
}
