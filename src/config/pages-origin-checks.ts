import type { UntracedProblem } from './problems.ts';
import { type Tree, urlAt } from './tree.ts';

/** Checks that `pages.origin` shares nothing with `origin`. Takes the merged settings before they are validated. */
export function checkPagesOrigin(tree: Tree): readonly UntracedProblem[] {
  const path = ['pages', 'origin'];
  const [pages, origin] = [urlAt(tree, path), urlAt(tree, ['origin'])];
  if (pages === undefined || origin === undefined) return [];
  const report = (message: string): readonly UntracedProblem[] => [{ path, at: 'value', message }];
  // Cookies belong to a host, on all of its ports (RFC 6265 section 8.5).
  if (pages.hostname === origin.hostname)
    return report(
      'must be at another host than `origin`: scripts and cookies of the site reach this one, whatever its port',
    );
  if (pages.protocol === 'http:' && origin.protocol === 'https:') return report('must be https, like `origin`');
  return [];
}
