import type { LoadedConfig } from '../../../config/load.ts';
import { createLog } from '../../../operations/log.ts';
import { startGateway } from '../../../process/gateway.ts';
import { documentPaths } from '../../../request/public-paths.ts';

/** A document that the gate serves to everyone. */
interface DiscoveryDocument {
  readonly path: string;
  /** Header fields of the gate's response that a copy needs too, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface DiscoveryDocuments {
  readonly documents: readonly DiscoveryDocument[];
  /** Header fields of the answer to a CORS preflight for any of them. */
  readonly preflight: Readonly<Record<string, string>>;
}

/** Fields about one response or one connection, and those that a server makes itself. */
const NOT_COPIED = new Set([
  ...['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length'],
  ...['x-request-id', 'etag'],
]);

/**
 * Returns every document of the public addresses that stays the same until the configuration changes. A gate with this
 * configuration and an empty store in memory is asked for them, so they are what the running gate answers, byte for
 * byte. Nothing else is called, and the real store is not opened. Rejects if such a gate cannot start.
 */
export async function discoveryDocuments(loaded: LoadedConfig): Promise<DiscoveryDocuments> {
  const gateway = await startGateway({ loaded: onItsOwn(loaded), log: createLog('silent', 2), clock: Date.now });
  const origin = `http://127.0.0.1:${gateway.publicPort}`;
  try {
    const documents: DiscoveryDocument[] = [];
    for (const path of documentPaths(loaded.config)) {
      const response = await fetch(origin + path);
      const body = Buffer.from(await response.arrayBuffer());
      if (!response.ok) throw new Error(`The gate answers ${response.status} at ${path}.`);
      documents.push({ path, headers: copied(response.headers), body });
    }
    const asked = { 'access-control-request-method': 'GET' };
    const preflight = await fetch(origin + (documents[0]?.path ?? '/'), { method: 'OPTIONS', headers: asked });
    return { documents, preflight: copied(preflight.headers) };
  } finally {
    await gateway.close(0);
  }
}

/** The same configuration for a gate that nobody else can reach and that leaves nothing behind. */
function onItsOwn(loaded: LoadedConfig): LoadedConfig {
  const { config } = loaded;
  const { probes: _probes, decisions: _decisions, ...listen } = config.listen;
  const here = { host: '127.0.0.1', port: 0 };
  return {
    ...loaded,
    config: {
      ...config,
      store: { kind: 'memory' },
      listen: { ...listen, ...here, reusePort: false, admin: { ...listen.admin, ...here } },
    },
  };
}

function copied(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => !NOT_COPIED.has(name)));
}
