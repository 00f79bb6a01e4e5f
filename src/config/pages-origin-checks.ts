import type { UntracedProblem } from './problems.ts';
import { keysAt, type Tree, urlAt, valueAt } from './tree.ts';

const SERVED = 'must be `redirect`: with `pages.origin`, members confirm apps at a host that belongs to `origin` alone';

/**
 * Checks that `pages.origin` shares nothing with `origin`, and belongs to it alone. Takes the merged settings before they
 * are validated.
 */
export function checkPagesOrigin(tree: Tree): readonly UntracedProblem[] {
  const path = ['pages', 'origin'];
  const [pages, origin] = [urlAt(tree, path), urlAt(tree, ['origin'])];
  if (pages === undefined || origin === undefined) return [];
  const served = keysAt(tree, ['aliases'])
    .map((alias) => ['aliases', alias])
    .filter((alias) => valueAt(tree, alias) === 'serve')
    .map((alias): UntracedProblem => ({ path: alias, at: 'value', message: SERVED }));
  const report = (message: string): readonly UntracedProblem[] => [{ path, at: 'value', message }, ...served];
  // Cookies belong to a host, on all of its ports (RFC 6265 section 8.5).
  if (pages.hostname === origin.hostname)
    return report(
      'must be at another host than `origin`: scripts and cookies of the site reach this one, whatever its port',
    );
  if (pages.protocol === 'http:' && origin.protocol === 'https:') return report('must be https, like `origin`');
  return served;
}
