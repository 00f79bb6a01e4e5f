import type { UpstreamConfig } from '../../src/config/schema.ts';

/** An upstream's configuration with the documented defaults. Durations are in seconds. */
export function upstreamConfig(url: string, settings: Partial<UpstreamConfig> = {}): UpstreamConfig {
  return {
    url,
    connectTimeout: 2,
    timeout: 10,
    streamTimeout: 3600,
    tunnelTimeout: 3600,
    maxRequests: 1024,
    maxStreams: 10_000,
    client: 'http1',
    breaker: { failures: 5, cooldown: 5 },
    identity: ['headers', 'assertion'],
    aliases: [],
    headers: { request: { allow: [], drop: [] }, response: { drop: [] } },
    ...settings,
  };
}
