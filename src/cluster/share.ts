import type { Config } from '../config/schema.ts';

/**
 * A worker's part of what is counted by each process for itself, so that all workers together stay within what the
 * configuration says: connections, which the primary hands out in turn, and what an upstream is given at the same time.
 * Rounded up, so that none has nothing.
 */
export function shareOf(config: Config, workers: number): Config {
  const part = (whole: number) => Math.ceil(whole / workers);
  const { listen, upstreams } = config;
  return {
    ...config,
    listen: {
      ...listen,
      maxConnections: part(listen.maxConnections),
      maxConnectionsPerAddress: part(listen.maxConnectionsPerAddress),
    },
    upstreams: Object.fromEntries(
      Object.entries(upstreams).map(([name, upstream]) => [
        name,
        { ...upstream, maxRequests: part(upstream.maxRequests), maxStreams: part(upstream.maxStreams) },
      ]),
    ),
  };
}
