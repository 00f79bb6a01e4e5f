import type { Config } from '../../../config/schema.ts';
import { trustedProxies } from '../../../http/trusted-proxies.ts';
import { publicPaths } from '../../../request/public-paths.ts';
import { gatePaths } from './gate-paths.ts';
import { SNIPPETS, type SnippetOptions } from './snippet.ts';

const IDENTITY_FIELDS = ['X-Member-Id', 'X-Member-Email', 'X-Member-Name', 'X-Member-Scope', 'X-Client-Id'];

export interface Snippet {
  readonly text: string;
  /** What else the operator has to change. */
  readonly notes: readonly string[];
}

/**
 * The snippet for a web server in front of the site. `server` is a key of `SNIPPETS`; `gate` is host:port as the web
 * server reaches the gate, its listen address by default. Throws for an unknown server or a malformed `gate`.
 */
export function configuredSnippet(config: Config, server: string, gate?: string): Snippet {
  const snippet = Object.hasOwn(SNIPPETS, server) ? SNIPPETS[server] : undefined;
  if (snippet === undefined) throw new Error(`--for must be one of ${Object.keys(SNIPPETS).join(', ')}.`);
  return { text: snippet.write(snippetOptions(config, gate)), notes: notesOn(config, gate) };
}

function snippetOptions(config: Config, gate: string = gateAddress(config)): SnippetOptions {
  if (!/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):\d{1,5}$/.test(gate))
    throw new Error(`--gate must be host:port, not "${gate}".`);
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
  const { trustedProxies: trusted } = config.listen;
  const notes: string[] = [];
  const isHere = gate === undefined || /^(127\.|localhost:|\[::1\])/.test(gate);
  if (trusted.length === 0 || (isHere && !trustedProxies(trusted)('127.0.0.1')))
    notes.push(
      `Trust the web server in coursegate.yaml: listen: { trustedProxies: [${isHere ? 'loopback' : 'its address'}] }. Until then, all requests seem to come from its address.`,
    );
  const { host } = new URL(config.origin);
  for (const [name, { url }] of Object.entries(config.upstreams))
    if (new URL(url).host === host)
      notes.push(
        `The upstream "${name}" has the public address ${host}: requests would loop between the web server and the gate.`,
      );
  return notes;
}
