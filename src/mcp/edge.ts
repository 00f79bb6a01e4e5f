import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';

/** RFC 6454 section 6.1, without `null`: a page that hides its origin is refused. */
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?$/;

/**
 * Checks Host and Origin against DNS rebinding and requests from other sites' pages: Host must be one of the gate's
 * own, and Origin, if present, must be on the list. Throws GatewayError `forbidden`.
 */
export function edgeCheck(origin: string, origins: '*' | readonly string[]): (request: IncomingMessage) => void {
  const { host: own, protocol } = new URL(origin);
  const defaultPort = protocol === 'https:' ? ':443' : ':80';
  const known = new Set([own, own.includes(':') ? own : own + defaultPort]);
  const pages = new Set(origins === '*' ? [] : origins.map((page) => page.toLowerCase()));

  const takesPage = (page: string): boolean => {
    const [, scheme, name] = ORIGIN.exec(page) ?? [];
    if (name === undefined) return false;
    return origins === '*' || page === origin || pages.has(page) || pages.has(`${scheme}://${name}:*`);
  };

  return ({ headers }) => {
    if (headers.host === undefined || !known.has(headers.host.toLowerCase())) {
      throw new GatewayError('forbidden', { message: 'This host name is not served here.' });
    }
    if (headers.origin !== undefined && !takesPage(headers.origin.toLowerCase())) {
      throw new GatewayError('forbidden', { message: 'Pages of this origin may not call this address.' });
    }
  };
}
