import { createHash } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { publicPaths } from '../request/public-paths.ts';

/**
 * Identifies everything in a configuration that a gateway's generated file depends on. A gateway whose file carries
 * another fingerprint is out of date.
 */
export function gatewayFingerprint(config: Config): string {
  const { origin, routes, upstreams, listen, limits } = config;
  const parts = [
    FORMAT,
    origin,
    publicPaths(config),
    routes.map(({ match, upstream, forwardedBy }) => [match, upstream, forwardedBy]),
    Object.entries(upstreams).map(([name, { url, host, headers, timeout }]) => [name, url, host, headers, timeout]),
    [listen.host, listen.port, listen.decisions?.address],
    limits.requestBody,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
}

/** Raised whenever the generated files themselves change. */
const FORMAT = 2;
