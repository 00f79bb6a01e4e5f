import { createHash } from 'node:crypto';
import type { LoadedConfig } from '../config/load.ts';
import { fieldValues } from '../http/field-values.ts';
import { publicPaths } from '../request/public-paths.ts';
import { DECISION_FIELDS } from './protocol.ts';

/**
 * Identifies everything in a configuration that a gateway's generated file depends on, after the host of the school. A
 * gateway whose file carries another fingerprint is out of date, or was written for another school.
 */
export function gatewayFingerprint({ config, asserts = config.origin }: Pick<LoadedConfig, 'config' | 'asserts'>) {
  const { routes, upstreams, listen, limits } = config;
  const parts = [
    FORMAT,
    asserts,
    publicPaths(config),
    routes.map(({ match, upstream, forwardedBy }) => [match, upstream, forwardedBy]),
    Object.entries(upstreams).map(([name, { url, host, headers, timeout }]) => [name, url, host, headers, timeout]),
    [listen.host, listen.port, listen.decisions?.address],
    limits.requestBody,
  ];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);
  return `${new URL(asserts).host}/${hash}`;
}

/** Whether a question comes from a file that was written for the school whose origin has this host, up to date or not. */
export function isFileOf(host: string | undefined, rawHeaders: readonly string[]): boolean {
  const sent = fieldValues(rawHeaders, DECISION_FIELDS.config.toLowerCase());
  return sent.length === 1 && sent[0]?.startsWith(`${host}/`) === true;
}

/** Raised whenever the generated files themselves change. */
const FORMAT = 3;
