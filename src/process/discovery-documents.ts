import type { IncomingHttpHeaders } from 'node:http';
import type { LoadedConfig } from '../config/load.ts';
import { type BoundedRequest, boundedExchange } from '../http/bounded-client.ts';
import { createLog } from '../operations/log.ts';
import { documentPaths } from '../request/public-paths.ts';
import { startGateway } from './gateway.ts';

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

/** Milliseconds for one document, and bytes: an OpenAPI document has some hundred kilobytes. */
const PATIENCE = 30_000;
const LONGEST = 64 * 1024 * 1024;

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
    const ask = (path: string, request: Pick<BoundedRequest, 'method' | 'headers'> = {}) =>
      boundedExchange(new URL(origin + path), {
        ...request,
        signal: AbortSignal.timeout(PATIENCE),
        longest: LONGEST,
        agent: false,
      });
    for (const path of documentPaths(loaded.config)) {
      const { status, headers, body, cut } = await ask(path);
      if (status !== 200 || cut) throw new Error(`The gate answers ${status} at ${path}.`);
      documents.push({ path, headers: copied(headers), body });
    }
    const asked = { 'access-control-request-method': 'GET' };
    const preflight = await ask(documents[0]?.path ?? '/', { method: 'OPTIONS', headers: asked });
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

function copied(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const fields = Object.entries(headers).filter(([name]) => !NOT_COPIED.has(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, String(value)]));
}
