import { carriedOver, type Share } from '../config/carried-over.ts';
import type { UpstreamConfig } from '../config/schema.ts';
import { addsTraceFields } from '../http/open-telemetry.ts';
import { Admission } from './admission.ts';
import { createBreaker } from './breaker.ts';
import type { HttpClient, HttpClientOptions } from './http-client.ts';
import { Http1Client } from './http1/http1-client.ts';
import { pathPrefix } from './location.ts';
import type { Target } from './target.ts';
import { UndiciClient } from './undici-client.ts';

/** One upstream for both lanes and our own calls. */
export type Upstream = ReturnType<typeof openUpstream>;

/** In milliseconds. */
interface Timeouts {
  /** Name resolution, TCP and TLS together. */
  readonly connect: number;
  /** From sending a request to the head of its response. */
  readonly head: number;
  /** Between two chunks of a body. */
  readonly body: number;
  /** Between two events of an event stream. */
  readonly stream: number;
}

export type Pools = ReturnType<typeof createPools>;

/**
 * Opens the connections, limits and circuit breaker of each upstream. Upstreams that have not changed since an earlier
 * configuration are carried over, with their connections, slots and breaker.
 * @param now a monotonic clock in milliseconds
 * @param unanswered called with the name of an upstream that could not be reached or did not respond in time
 */
export function createPools(
  upstreams: Readonly<Record<string, UpstreamConfig>>,
  now: () => number = () => performance.now(),
  share: Share = carriedOver().share(),
  unanswered: (upstream: string) => void = () => {},
) {
  const open = new Map(
    Object.entries(upstreams).map(([name, config]) => {
      const make = () => openUpstream(config, now, () => unanswered(name));
      return [name, share.acquire(`upstream ${name}`, madeFrom(config), make, ({ connections }) => connections.end())];
    }),
  );
  return {
    /** Throws Error for a name that is not configured: a bug in our code, not a bad request. */
    get(name: string): Upstream {
      const upstream = open.get(name);
      if (upstream === undefined) throw new Error(`There is no upstream named ${name}.`);
      return upstream;
    },
    all: (): ReadonlyMap<string, Upstream> => open,
    /**
     * Releases the upstreams. Closes every connection, including those in use, to upstreams that no other configuration
     * uses.
     */
    close: share.release,
  };
}

/** All settings that `openUpstream` reads. */
function madeFrom(config: UpstreamConfig) {
  const { url, timeout, connectTimeout, streamTimeout, maxRequests, maxStreams, breaker, client } = config;
  return [url, timeout, connectTimeout, streamTimeout, maxRequests, maxStreams, breaker, config.identity, client];
}

function openUpstream(config: UpstreamConfig, now: () => number, unanswered: () => void) {
  const url = new URL(config.url);
  const prefix = pathPrefix(url);
  const head = milliseconds(config.timeout);
  const timeouts: Timeouts = {
    connect: Math.min(head, milliseconds(config.connectTimeout)),
    head,
    body: head,
    stream: milliseconds(config.streamTimeout),
  };
  const { failures, cooldown } = config.breaker;
  return {
    url,
    connections: openClient(config, url, { connectTimeout: timeouts.connect, headersTimeout: timeouts.head, now }),
    /** Every request must be admitted here first. */
    admission: new Admission(config, createBreaker({ failures, cooldown: milliseconds(cooldown), now }), unanswered),
    timeouts,
    identity: config.identity,
    /** The target with the path prefix of the upstream's URL. */
    pathOf: (target: Target): string => prefix + target.path + target.query,
  };
}

/** undici has TLS, and OpenTelemetry observes it: our own client would be missing in the operator's traces. */
function openClient({ client }: UpstreamConfig, { origin, protocol }: URL, options: HttpClientOptions): HttpClient {
  const ours = protocol === 'http:' && client === 'http1' && !addsTraceFields();
  return ours ? new Http1Client(origin, options) : new UndiciClient(origin, options);
}

/** A duration of 0 s becomes 1 ms: undici takes 0 as no timeout. */
function milliseconds(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}
