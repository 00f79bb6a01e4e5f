import { carriedOver, type Share } from '../config/carried-over.ts';
import type { UpstreamConfig } from '../config/schema.ts';
import { Admission } from './admission.ts';
import { createBreaker } from './breaker.ts';
import { Connections } from './connections.ts';
import { pathPrefix } from './location.ts';
import type { Target } from './target.ts';

/** One upstream as the protected lane and our own calls use it; the site lane has connections of its own. */
export interface Upstream {
  readonly url: URL;
  readonly connections: Connections;
  /** Every request enters here first. */
  readonly admission: Admission;
  readonly timeouts: Timeouts;
  readonly identity: UpstreamConfig['identity'];
  /** The target under the upstream's own path prefix. */
  pathOf(target: Target): string;
}

/** Milliseconds. */
interface Timeouts {
  /** For name resolution, TCP and TLS together. */
  readonly connect: number;
  /** From when a request was sent to the head of its answer. */
  readonly head: number;
  /** Between two pieces of a body. */
  readonly body: number;
  /** Between two events of a stream. */
  readonly stream: number;
}

export interface Pools {
  /** Throws Error for a name that is not configured: a mistake of ours, not of a request. */
  get(name: string): Upstream;
  all(): ReadonlyMap<string, Upstream>;
  /** Gives its share back: ends every connection, also those in use, to upstreams that nobody else has opened. */
  close(): Promise<void>;
}

/**
 * Opens what is kept per upstream. In: the upstreams by name, a clock in monotonic milliseconds, and a share of what an
 * earlier configuration left: an upstream of which this one says the same keeps its connections, its places and its breaker.
 */
export function createPools(
  upstreams: Readonly<Record<string, UpstreamConfig>>,
  now: () => number = () => performance.now(),
  share: Share = carriedOver().share(),
): Pools {
  const open = new Map(
    Object.entries(upstreams).map(([name, config]) => {
      const make = () => openUpstream(config, now);
      return [name, share.take(`upstream ${name}`, madeFrom(config), make, ({ connections }) => connections.end())];
    }),
  );
  return {
    get(name) {
      const upstream = open.get(name);
      if (upstream === undefined) throw new Error(`There is no upstream named ${name}.`);
      return upstream;
    },
    all: () => open,
    close: share.release,
  };
}

/** All of a configuration that `openUpstream` looks at. */
function madeFrom(config: UpstreamConfig) {
  const { url, timeout, connectTimeout, bodyTimeout, streamTimeout, maxRequests, maxStreams, breaker } = config;
  return [url, timeout, connectTimeout, bodyTimeout, streamTimeout, maxRequests, maxStreams, breaker, config.identity];
}

function openUpstream(config: UpstreamConfig, now: () => number): Upstream {
  const url = new URL(config.url);
  const prefix = pathPrefix(url);
  const head = milliseconds(config.timeout);
  const timeouts: Timeouts = {
    connect: Math.min(head, milliseconds(config.connectTimeout)),
    head,
    body: milliseconds(config.bodyTimeout ?? config.timeout),
    stream: milliseconds(config.streamTimeout),
  };
  const { failures, cooldown, statuses } = config.breaker;
  return {
    url,
    connections: new Connections(url.origin, {
      connectTimeout: timeouts.connect,
      headersTimeout: timeouts.head,
      now,
    }),
    admission: new Admission({
      maxRequests: config.maxRequests,
      maxStreams: config.maxStreams,
      breaker: createBreaker({ failures, cooldown: milliseconds(cooldown), now }),
      failureStatuses: new Set(statuses),
    }),
    timeouts,
    identity: config.identity,
    pathOf: (target) => prefix + target.path + target.query,
  };
}

/** A duration of 0s is not "for ever", which 0 means to undici, but as short as can be. */
function milliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}
