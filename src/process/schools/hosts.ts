import type { LoadedConfig } from '../../config/load.ts';
import { readSettings } from '../../config/read-layers.ts';
import type { SourceFiles } from '../../config/source-files.ts';
import { keysAt, type Tree, urlAt, valueAt } from '../../config/tree.ts';

/** One address of a school. */
export interface SchoolHost {
  /** As in Host: lower case, with the port unless it is the usual one. */
  readonly host: string;
  readonly usualPort: ':443' | ':80';
  /** `redirect` leads to the same path at `origin`. */
  readonly kind: 'serve' | 'redirect';
  /** What is served there, or where it leads. */
  readonly origin: string;
}

/** The addresses that the settings of a school name, valid or not. */
export function hostsIn(tree: Tree): readonly SchoolHost[] {
  const origin = urlAt(tree, ['origin'])?.origin;
  if (origin === undefined) return [];
  const pages = urlAt(tree, ['pages', 'origin']);
  const aliases = keysAt(tree, ['aliases']).flatMap((alias) => {
    const at = URL.parse(alias);
    if (at === null) return [];
    const kind = valueAt(tree, ['aliases', alias]) === 'serve' ? 'serve' : 'redirect';
    return hostAt(at, kind, kind === 'serve' ? at.origin : origin);
  });
  return [
    hostAt(new URL(origin), 'serve', origin),
    ...(pages === undefined ? [] : [hostAt(pages, 'serve', origin)]),
    ...aliases,
  ];
}

function hostAt({ protocol, host }: URL, kind: SchoolHost['kind'], origin: string): SchoolHost {
  return { host, usualPort: protocol === 'https:' ? ':443' : ':80', kind, origin };
}

/** Reads the addresses in a school's file, without validating anything else. Rejects with ConfigError. */
export async function readHosts(file: string, sources: SourceFiles): Promise<readonly SchoolHost[]> {
  return hostsIn((await readSettings(file, sources)).tree);
}

interface HasHosts {
  readonly hosts: readonly SchoolHost[];
  /** Whether nothing is served at its addresses, because its file was never valid. */
  readonly isRefused: boolean;
}

/** The configuration at one of the school's origins. Backends know one issuer of assertions, whatever the origin. */
export function loadedAt(loaded: LoadedConfig, origin: string): LoadedConfig {
  const { config } = loaded;
  return origin === config.origin ? loaded : { ...loaded, asserts: config.origin, config: { ...config, origin } };
}

/** Which school is at which address. */
export class HostMap<Owner extends HasHosts> {
  #hosts = new Map<string, SchoolHost & { readonly school: Owner }>();
  /** By the name that a certificate is for: those of addresses with TLS, without their ports. */
  #domains = new Map<string, Owner[]>();

  /**
   * Replaces the addresses with those of all schools. An address that two schools have stays with the one whose name comes first.
   * Returns the others.
   */
  set(schools: Iterable<Owner>): readonly { readonly school: Owner; readonly host: string; readonly of: Owner }[] {
    const hosts = new Map<string, SchoolHost & { readonly school: Owner }>();
    const taken = [];
    for (const school of schools)
      for (const one of school.hosts) {
        const first = hosts.get(one.host);
        if (first === undefined) hosts.set(one.host, { ...one, school });
        else if (first.school !== school) taken.push({ school, host: one.host, of: first.school });
      }
    this.#hosts = hosts;
    this.#domains = new Map();
    for (const { host, usualPort, school } of hosts.values()) {
      if (usualPort !== ':443') continue;
      const domain = host.replace(/:\d+$/, '');
      this.#domains.set(domain, [...(this.#domains.get(domain) ?? []), school]);
    }
    return taken;
  }

  /** What is at the value of Host. Nothing else of a request chooses a school. */
  at(host: string | undefined): (SchoolHost & { readonly school: Owner }) | undefined {
    if (host === undefined) return undefined;
    const name = host.toLowerCase();
    const found = this.#hosts.get(name);
    if (found !== undefined) return found;
    const colon = name.lastIndexOf(':');
    const bare = colon === -1 ? undefined : this.#hosts.get(name.slice(0, colon));
    return bare?.usualPort === name.slice(colon) ? bare : undefined;
  }

  /** Whether a proxy in front may obtain a certificate for a name: a school is served there, or redirected from there. */
  certifies(domain: string): boolean {
    return this.#domains.get(domain)?.some(({ isRefused }) => !isRefused) ?? false;
  }

  /** All of these names, in the order of the alphabet. */
  domains(): readonly string[] {
    return [...this.#domains.keys()].filter((domain) => this.certifies(domain)).toSorted();
  }
}
