import { isIP } from 'node:net';
import type { Finding } from './problems.ts';
import { type Tree, valueAt } from './tree.ts';

/**
 * Checks that the browser shows the gate the session that the sign-in page makes. In: the merged settings, not yet known
 * to fit the schema. A cookie is of one site (RFC 6265 §5.2.3, §5.3): a sign-in page at a host that shares no domain with
 * the origin makes a session that no request to the origin ever carries.
 */
export function checkLoginSite(tree: Tree): readonly Finding[] {
  const path = ['login', valueAt(tree, ['login', 'kind']) === 'bridge' ? 'url' : 'loginUrl'];
  const page = urlAt(valueAt(tree, path));
  const origin = urlAt(tree.origin);
  // An origin in http is one on this machine, where things are tried out.
  if (page === undefined || origin?.protocol !== 'https:') return [];
  const report = (message: string): readonly Finding[] => [{ path, at: 'value', message }];
  if (page.protocol === 'http:') {
    return report(
      'must be https, as the origin is: passwords would be typed into a page that anybody on the way can change',
    );
  }
  if (valueAt(tree, ['login', 'kind']) !== 'session' || shareDomain(page.hostname, origin.hostname)) return [];
  return report(
    `is at ${page.hostname}, whose cookies no browser shows to ${origin.hostname}: \`session\` needs both under one domain. Across sites take \`bridge\``,
  );
}

function urlAt(value: unknown): URL | undefined {
  return typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value) : undefined;
}

/** Two labels at least, or one is the other's parent. What passes may still be two sites (a.co.uk, b.co.uk): that is said by nobody here. */
function shareDomain(one: string, other: string): boolean {
  if (one === other) return true;
  if (isIP(one) !== 0 || isIP(other) !== 0 || one.startsWith('[') || other.startsWith('[')) return false;
  const last = (host: string) => host.split('.').slice(-2).join('.');
  return last(one) === last(other);
}
