import type { Finding } from './problems.ts';
import { keysAt, type Path, type Tree, valueAt } from './tree.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;
const ANY = /^(0\.0\.0\.0|\[?::\]?)$/;

/**
 * Refuses upstreams that are the gate itself. Whatever stands in front of it, a request that is passed on unchanged to
 * its own origin comes back. Takes the merged settings before they are validated.
 */
export function checkLoops(tree: Tree): readonly Finding[] {
  return keysAt(tree, ['upstreams']).flatMap((name): Finding[] => {
    const path: Path = ['upstreams', name, 'url'];
    const url = parsed(valueAt(tree, path));
    if (url === undefined) return [];
    const found = (message: string): Finding[] => [{ path, at: 'value', message }];
    const listener = listenersOf(tree).find(({ host, port }) => port === portOf(url) && isAt(url.hostname, host));
    if (listener !== undefined) return found(`is this gate itself (${listener.key}): name the service behind it`);
    const origin = parsed(valueAt(tree, ['origin']))?.origin;
    if (url.origin !== origin || url.pathname !== '/' || valueAt(tree, ['site', 'upstream']) !== name) return [];
    return found(
      'is `origin`, from where each request would come back to this gate: name the address of the site behind it',
    );
  });
}

function listenersOf(tree: Tree) {
  const at = (key: string, host: string, port: number) => ({
    key: `${key}.port`,
    host: String(valueAt(tree, [...key.split('.'), 'host']) ?? host),
    port: Number(valueAt(tree, [...key.split('.'), 'port']) ?? port),
  });
  const probes = valueAt(tree, ['listen', 'probes']) === undefined ? [] : [at('listen.probes', '127.0.0.1', 9091)];
  return [at('listen', '127.0.0.1', 8080), at('listen.admin', '127.0.0.1', 9090), ...probes];
}

/** Whether a name in a URL leads to a listener at `host`. */
function isAt(name: string, host: string): boolean {
  if (ANY.test(host)) return LOOPBACK.test(name) || ANY.test(name);
  return name === host || name === `[${host}]` || (LOOPBACK.test(host) && (name === 'localhost' || ANY.test(name)));
}

function parsed(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
