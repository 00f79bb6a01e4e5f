import type { UntracedProblem } from './problems.ts';
import { keysAt, type Path, type Tree, urlAt, valueAt } from './tree.ts';

const LOOPBACK = /^((.+\.)?localhost|127(\.\d+){3}|\[?::1\]?)$/;
const ANY = /^(0\.0\.0\.0|\[?::\]?)$/;
const LISTENERS = { listen: 8080, 'listen.admin': 9090, 'listen.probes': 9091 };

/**
 * Refuses upstreams that are the gate itself: one of its listeners, or the site at the public origin, from where a request
 * that is passed on unchanged comes back. Takes the merged settings before they are validated.
 */
export function checkLoops(tree: Tree): readonly UntracedProblem[] {
  const origin = urlAt(tree, ['origin'])?.origin;
  return keysAt(tree, ['upstreams']).flatMap((name): UntracedProblem[] => {
    const path: Path = ['upstreams', name, 'url'];
    const url = urlAt(tree, path);
    if (url === undefined) return [];
    const found = (message: string): UntracedProblem[] => [{ path, at: 'value', message }];
    const listener = Object.entries(LISTENERS).find(([key, port]) =>
      isListener(url, valueAt(tree, key.split('.')), port),
    );
    if (listener !== undefined) return found(`is this gate itself (${listener[0]}.port): name the service behind it`);
    if (url.origin !== origin || url.pathname !== '/' || valueAt(tree, ['site', 'upstream']) !== name) return [];
    return found(
      'is `origin`, from where each request would come back to this gate: name the address of the site behind it',
    );
  });
}

/** Whether a URL leads to the listener with these settings. That of probes is off without any. */
function isListener({ hostname, port, protocol }: URL, settings: unknown, usual: number): boolean {
  if (settings === undefined && usual === LISTENERS['listen.probes']) return false;
  const host = String(valueAt(settings, ['host']) ?? '127.0.0.1');
  const wanted = Number(port || (protocol === 'https:' ? 443 : 80));
  if (wanted !== Number(valueAt(settings, ['port']) ?? usual)) return false;
  if (ANY.test(host)) return LOOPBACK.test(hostname) || ANY.test(hostname);
  if (hostname === host || hostname === `[${host}]`) return true;
  return LOOPBACK.test(host) && (/localhost$/.test(hostname) || ANY.test(hostname));
}
