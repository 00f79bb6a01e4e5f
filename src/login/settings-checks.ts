import { isIP } from 'node:net';
import type { UntracedProblem } from '../config/problems.ts';
import { type Tree, urlAt, valueAt } from '../config/tree.ts';
import { loginFacts } from './kinds.ts';

/**
 * Checks that browsers send the gate the session cookie that the sign-in page sets. Takes the merged settings before
 * they are validated. A cookie belongs to one domain (RFC 6265 sections 5.2.3 and 5.3): if the host of the sign-in page
 * shares no domain with the origin, no request to the origin ever carries the cookie.
 */
export function checkLoginSite(tree: Tree): readonly UntracedProblem[] {
  const { page: setting = [], cookies } = loginFacts(tree);
  const path = ['login', ...setting];
  const page = urlAt(tree, path);
  const origin = urlAt(tree, ['origin']);
  // An http origin is on loopback, for trying things out.
  if (page === undefined || origin?.protocol !== 'https:') return [];
  const report = (message: string): readonly UntracedProblem[] => [{ path, at: 'value', message }];
  if (page.protocol === 'http:')
    return report(
      'must be https like the origin: otherwise the page on which members enter passwords could be tampered with',
    );
  if (cookies === undefined || shareDomain(page.hostname, origin.hostname)) return [];
  const kind = String(valueAt(tree, ['login', 'kind']));
  return report(
    `is at ${page.hostname}, whose cookies browsers do not send to ${origin.hostname}: \`${kind}\` needs both under one domain. Across domains, use \`bridge\``,
  );
}

/**
 * Whether two hosts have their last two labels in common. Hosts that pass may still be different sites (a.co.uk and
 * b.co.uk); the public suffix list that would tell them apart is not consulted here.
 */
function shareDomain(one: string, other: string): boolean {
  if (one === other) return true;
  if (isIP(one) !== 0 || isIP(other) !== 0 || one.startsWith('[') || other.startsWith('[')) return false;
  const last = (host: string) => host.split('.').slice(-2).join('.');
  return last(one) === last(other);
}
