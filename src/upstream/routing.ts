import { isAmbiguous } from './ambiguous.ts';
import { canonicalPath, INVISIBLE } from './target.ts';

/** One declared route: the methods it accepts (undefined: all), its path pattern, and its handler. */
export interface Routed<T> {
  readonly methods: readonly string[] | undefined;
  readonly pattern: string;
  /** false: its GET starts or ends something, so HEAD, which must be safe (RFC 9110 section 9.2.1), is not accepted. */
  readonly head?: false;
  readonly value: T;
  /** The handler of the same path with a final slash; if omitted, that path has no handler. */
  readonly slashed?: T;
}

type RoutingResult<T> =
  | { readonly kind: 'route'; readonly route: Routed<T> }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  /**
   * An upstream might read this path as one of our routes although it is spelled differently: it must not be forwarded.
   */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'none' };

/** Looks up a method and a canonical path (see `parseTarget`). */
export type Routing<T> = (method: string, path: string) => RoutingResult<T>;

interface Indexed<T> {
  readonly index: number;
  readonly route: Routed<T>;
  /** Including HEAD; undefined: all. */
  readonly methods: readonly string[] | undefined;
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  star: Node<T> | undefined;
  /** The routes that end here, and those that end in `**`, in the order of their declaration. */
  readonly end: Indexed<T>[];
  readonly rest: Indexed<T>[];
}

/**
 * Compiles routes into a segment trie, so that a lookup costs the same with ten routes and with a thousand. Patterns:
 * `/a/b` is exact, `*` is one segment, a final `**` is the rest, including nothing. The first declared match wins. A
 * GET route also serves HEAD (RFC 9110 section 9.3.2) unless it says otherwise. Throws TypeError for a pattern that no
 * canonical path can match.
 *
 * Every path is looked up twice: as it is spelled, and folded (decoded, case and compatibility forms folded, invisible
 * characters and final slash dropped), the way a lenient upstream may read it. If the folded path finds an earlier
 * route, or any route where the exact spelling finds none, the result is `claimed`: no spelling reaches a protected
 * resource past its own rule.
 */
export function createRouting<T>(routes: readonly Routed<T>[]): Routing<T> {
  const exact = createNode<T>();
  const folded = createNode<T>();
  let patternsAreFolded = true;
  for (const [index, route] of routes.entries()) {
    const segments = patternSegments(route.pattern);
    const foldedSegments = fold(segments);
    if (foldedSegments.some((segment, at) => segment !== segments[at])) patternsAreFolded = false;
    const methods = methodsOf(route);
    insert(exact, segments, { index, route, methods });
    // The same route in another spelling: it folds to the same path, so no other route can claim it.
    const { slashed } = route;
    if (slashed !== undefined)
      insert(exact, [...segments, ''], { index, route: { ...route, value: slashed }, methods });
    insert(folded, foldedSegments, { index, route, methods });
  }

  return (method, path) => {
    const segments = path.slice(1).split('/');
    const { best, isAny } = first(exact, segments, method);
    if (!patternsAreFolded || needsFolding(path)) {
      const lax = first(folded, fold(segments), method);
      const claimed = best === undefined ? lax.isAny && !isAny : lax.best !== undefined && lax.best.index < best.index;
      if (claimed) return { kind: 'claimed' };
    }
    if (best !== undefined) return { kind: 'route', route: best.route };
    return isAny ? { kind: 'method_not_allowed', allow: allowed(exact, segments) } : { kind: 'none' };
  };
}

function createNode<T>(): Node<T> {
  return { literals: new Map(), star: undefined, end: [], rest: [] };
}

/**
 * Converts literal segments to their canonical spelling, so that `/kurse/größe` in a file matches what clients send.
 */
function patternSegments(pattern: string): string[] {
  const segments = pattern.slice(1).split('/');
  const wild = (segment: string, at: number) => segment === '*' || (segment === '**' && at === segments.length - 1);
  if (!pattern.startsWith('/') || segments.some((segment, at) => segment.includes('*') && !wild(segment, at)))
    throw new TypeError(`The route pattern ${pattern} must start with / and use * for one segment or a final /**.`);
  return segments.map((segment, at) => {
    if (wild(segment, at)) return segment;
    const canonical = canonicalPath(`/${segment.replace(/[^\x21-\x7E]+/g, encodeURIComponent)}`)?.slice(1);
    if (canonical === undefined || isAmbiguous(segment) || (segment === '' && at !== segments.length - 1))
      throw new TypeError(`The route pattern ${pattern} can match no request: "${segment}" is refused in a path.`);
    return canonical;
  });
}

function insert<T>(root: Node<T>, segments: readonly string[], entry: Indexed<T>): void {
  let node = root;
  for (const segment of segments) {
    if (segment === '**') {
      node.rest.push(entry);
      return;
    }
    node = childOf(node, segment);
  }
  node.end.push(entry);
}

function childOf<T>(node: Node<T>, segment: string): Node<T> {
  const child = (segment === '*' ? node.star : node.literals.get(segment)) ?? createNode<T>();
  if (segment === '*') node.star = child;
  else node.literals.set(segment, child);
  return child;
}

function methodsOf({ methods, head }: Routed<unknown>): readonly string[] | undefined {
  const withHead = head !== false && methods?.includes('HEAD') === false;
  return methods?.flatMap((method) => (method === 'GET' && withHead ? ['GET', 'HEAD'] : [method]));
}

/** Calls `take` for all routes with this path. */
function find<T>(node: Node<T>, segments: readonly string[], take: (route: Indexed<T>) => void, at = 0): void {
  node.rest.forEach(take);
  const segment = segments[at];
  if (segment === undefined) {
    node.end.forEach(take);
    return;
  }
  const literal = node.literals.get(segment);
  if (literal !== undefined) find(literal, segments, take, at + 1);
  if (node.star !== undefined && segment !== '') find(node.star, segments, take, at + 1);
}

/** The first declared route with this path and method, and whether there is any with this path. */
function first<T>(root: Node<T>, segments: readonly string[], method: string) {
  const found: { best: Indexed<T> | undefined; isAny: boolean } = { best: undefined, isAny: false };
  find(root, segments, (route) => {
    found.isAny = true;
    if (found.best !== undefined && route.index > found.best.index) return;
    if (route.methods === undefined || route.methods.includes(method)) found.best = route;
  });
  return found;
}

function allowed(root: Node<unknown>, segments: readonly string[]): string[] {
  const found: Indexed<unknown>[] = [];
  find(root, segments, (route) => found.push(route));
  const declared = found.toSorted((a, b) => a.index - b.index);
  return [...new Set(declared.flatMap(({ methods = [] }) => methods))];
}

function needsFolding(path: string): boolean {
  return /[A-Z%]|.\/$/.test(path);
}

/** `*` and `**` in a pattern are not changed by folding. */
function fold(segments: readonly string[]): string[] {
  const folded = segments.map((segment) =>
    decodeURIComponent(segment).replace(INVISIBLE, '').normalize('NFKC').toUpperCase().toLowerCase(),
  );
  while (folded.length > 1 && folded.at(-1) === '') folded.pop();
  return folded;
}
