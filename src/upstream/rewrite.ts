import { canonicalPath } from './target.ts';

/** How a route's paths are called at its upstream. */
export interface Rewrite {
  /** In: a canonical path that the route matches. Out: the upstream's path for it, canonical too. */
  inward(path: string): string;
  /** In: a path of the upstream. Out: what it is called here; undefined when the route has no name for it. */
  outward(path: string): string | undefined;
}

/**
 * Makes the rewriting of a route. In: two patterns, as a route's `match` has them, with as many `*`, and both or neither
 * ending in `**`: what stands for a wildcard on one side takes the place of the same one on the other, in order.
 * Whole segments of a canonical path are put between literal ones, so that nothing can become `..`, a query or another
 * segment. Throws TypeError when the two do not fit, or the second could not be a canonical path.
 */
export function createRewrite(match: string, rewrite: string): Rewrite {
  const [from, to] = [segmentsOf(match), segmentsOf(rewrite)];
  for (const wildcard of ['*', '**']) {
    if (count(from, wildcard) !== count(to, wildcard)) {
      throw new TypeError(`The route pattern ${match} cannot be rewritten to ${rewrite}: the wildcards differ.`);
    }
  }
  if (to.slice(0, -1).some((segment) => segment === '' || segment === '**')) {
    throw new TypeError(`${rewrite} is no path that a request could be rewritten to.`);
  }
  return {
    inward(path) {
      const rewritten = translate(path, from, to);
      if (rewritten === undefined) throw new Error(`${match} does not match the path that was routed by it.`);
      return rewritten;
    },
    outward: (path) => translate(path, to, from),
  };
}

function segmentsOf(pattern: string): readonly string[] {
  const canonical = canonicalPath(pattern.replace(/[^\x21-\x7E]+/g, encodeURIComponent));
  if (canonical === undefined) throw new TypeError(`${pattern} is no canonical path.`);
  return canonical.slice(1).split('/');
}

function count(segments: readonly string[], wanted: string): number {
  return segments.filter((segment) => segment === wanted).length;
}

function translate(path: string, from: readonly string[], to: readonly string[]): string | undefined {
  const segments = path.slice(1).split('/');
  const taken: string[] = [];
  for (const [at, pattern] of from.entries()) {
    if (pattern === '**') return compose(to, taken, segments.slice(at));
    const segment = segments[at];
    if (segment === undefined || (pattern !== '*' && segment !== pattern)) return undefined;
    if (pattern === '*') taken.push(segment);
  }
  return segments.length === from.length ? compose(to, taken, []) : undefined;
}

function compose(to: readonly string[], taken: readonly string[], rest: readonly string[]): string {
  const left = [...taken];
  return `/${to.flatMap((pattern) => (pattern === '**' ? rest : pattern === '*' ? (left.shift() as string) : pattern)).join('/')}`;
}
