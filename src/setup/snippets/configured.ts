import type { Config } from '../../config/schema.ts';
import { trustedProxies } from '../../http/trusted-proxies.ts';
import { publicPaths } from '../../public-paths.ts';
import { gatePaths } from './gate-paths.ts';
import { SNIPPETS, type SnippetOptions } from './snippet.ts';

const IDENTITY_FIELDS = ['X-Member-Id', 'X-Member-Email', 'X-Member-Name', 'X-Member-Scope', 'X-Client-Id'];

export interface Snippet {
  readonly text: string;
  /** What else must be so, in words for the operator. */
  readonly notes: readonly string[];
}

/**
 * The lines for a web server in front of the site. In: the gate's configuration, which server (a key of `SNIPPETS`), and
 * where the web server reaches the gate, if that is not where it listens. Throws for a server that there is none for.
 */
export function configuredSnippet(config: Config, server: string, gate?: string): Snippet {
  const snippet = Object.hasOwn(SNIPPETS, server) ? SNIPPETS[server] : undefined;
  if (snippet === undefined) throw new Error(`--for takes ${Object.keys(SNIPPETS).join(', ')}.`);
  return { text: snippet.write(snippetOptions(config, gate)), notes: notesOn(config, gate) };
}

function snippetOptions(config: Config, gate: string = gateAddress(config)): SnippetOptions {
  if (!/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/.test(gate))
    throw new Error(`--gate takes host:port, not "${gate}".`);
  const named = Object.values(config.upstreams).some(({ identity }) => identity.includes('headers'));
  return {
    paths: gatePaths(publicPaths(config)),
    gate,
    origin: config.origin,
    identityFields: named ? IDENTITY_FIELDS : [],
  };
}

function gateAddress({ listen: { host, port } }: Config): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}

function notesOn(config: Config, gate: string | undefined): readonly string[] {
  const { trustedProxies: trusted, forwardingField } = config.listen;
  const notes: string[] = [];
  const isHere = gate === undefined || /^(127\.|localhost:|\[::1\])/.test(gate);
  if (trusted.length === 0 || (isHere && !trustedProxies(trusted)('127.0.0.1')))
    notes.push(
      `Say in coursegate.yaml that the web server is believed: listen: { trustedProxies: [${isHere ? 'loopback' : 'its address'}] }. Until then everybody has its address.`,
    );
  if (forwardingField !== 'X-Forwarded-For')
    notes.push(`listen.forwardingField is ${forwardingField}; the web server writes X-Forwarded-For.`);
  const { host } = new URL(config.origin);
  for (const [name, { url }] of Object.entries(config.upstreams))
    if (new URL(url).host === host)
      notes.push(
        `The upstream "${name}" is ${host} itself: what the web server sends to the gate would come back to it.`,
      );
  return notes;
}
