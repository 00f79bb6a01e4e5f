import { Pool } from 'undici';
import type { Config } from '../config/schema.ts';
import { pathPrefix } from './location.ts';
import type { Target } from './target.ts';

/** One upstream as the protected lane and our own calls use it. */
interface Upstream {
  readonly url: URL;
  readonly pool: Pool;
  /** Milliseconds: for the answer's head, and between two pieces of its body. */
  readonly timeout: number;
  readonly identity: Config['upstreams'][string]['identity'];
  /** The target under the upstream's own path prefix. */
  pathOf(target: Target): string;
}

export interface Pools {
  /** Throws Error for a name that is not configured: a mistake of ours, not of a request. */
  get(name: string): Upstream;
  /** Ends every connection, also those in use. */
  close(): Promise<void>;
}

/** A backend that is there answers a SYN at once; two seconds outlast one lost packet. */
const LONGEST_CONNECT = 2_000;

/**
 * Opens a pool of kept connections per upstream. Connections are not bounded here: with a bound, members who hold
 * event streams open would make everyone else's requests wait behind them. What one member or address may hold is
 * limited where requests are admitted. One request at a time per connection, for a pipelined one would wait for its
 * predecessor; no HTTP/2, whose fields and framing the header policy does not know.
 */
export function createPools(upstreams: Config['upstreams']): Pools {
  const open = new Map(Object.entries(upstreams).map(([name, config]) => [name, openUpstream(config)]));
  return {
    get(name) {
      const upstream = open.get(name);
      if (upstream === undefined) throw new Error(`There is no upstream named ${name}.`);
      return upstream;
    },
    async close() {
      await Promise.all([...open.values()].map((upstream) => upstream.pool.destroy()));
    },
  };
}

function openUpstream(config: Config['upstreams'][string]): Upstream {
  const url = new URL(config.url);
  const timeout = Math.max(1, Math.round(config.timeout * 1000));
  const prefix = pathPrefix(url);
  const pool = new Pool(url.origin, {
    connections: null,
    pipelining: 1,
    allowH2: false,
    connect: { timeout: Math.min(timeout, LONGEST_CONNECT) },
    headersTimeout: timeout,
    // Timed by the lane itself: only after the head is it known whether the body is an event stream.
    bodyTimeout: 0,
  });
  return { url, pool, timeout, identity: config.identity, pathOf: (target) => prefix + target.path + target.query };
}
