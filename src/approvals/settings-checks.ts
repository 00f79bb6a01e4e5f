import type { UntracedProblem } from '../config/problems.ts';
import { routeMatches } from '../config/route-order.ts';
import { listAt, type Tree, valueAt } from '../config/tree.ts';

/** Methods that change nothing (RFC 9110 section 9.2.1): such requests are not held. */
export const SAFE: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];
/** In bytes. A held body is in memory whole: once to ask the member, and once to send it. */
export const LONGEST_BODY = 1024 * 1024;

/**
 * Checks the routes whose requests members approve. Takes the merged settings before they are validated; where a
 * gateway forwards them is checked with the decisions for gateways.
 */
export function checkApprovals(tree: Tree): readonly UntracedProblem[] {
  return routeMatches(tree).flatMap(({ path, methods }): readonly UntracedProblem[] => {
    const route = path.slice(0, -1);
    const at = [...route, 'approve'];
    if (valueAt(tree, at) !== true) return [];
    const message = unsuitable(tree, valueAt(tree, route), methods);
    return message === undefined ? [] : [{ path: at, at: 'value', message }];
  });
}

function unsuitable(tree: Tree, route: unknown, methods: readonly string[] | undefined): string | undefined {
  if (listAt(route, ['scopes']).length === 0)
    return 'is only for routes with scopes: without a member, nobody could approve';
  if (methods?.every((method) => SAFE.includes(method)))
    return 'is only for routes that change something: this one only reads';
  if ((valueAt(route, ['anonymous']) ?? tree.anonymous) !== 'serve') return undefined;
  return 'needs a member, but this route serves requests without a token: set `anonymous: refuse`';
}
