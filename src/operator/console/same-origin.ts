import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { mountOf, ROOT } from './paths.ts';

/**
 * Whether no other page caused the request. Browsers leave the Sec-Fetch fields out over plain HTTP to another machine:
 * a GET is then held by the cookie, which is SameSite=Strict. A form has to prove where it comes from, so that nothing
 * is changed without one of the two fields.
 */
export function isOwnRequest(request: IncomingMessage): boolean {
  const { origin, referer, 'sec-fetch-site': site } = request.headers;
  const own = originOf(request);
  if (origin !== undefined && origin !== own) return false;
  if (request.method === 'POST') {
    // All schools of a process have one origin. No form of one is for another.
    if (referer !== undefined && !referer.startsWith(own + mountOf(request) + ROOT)) return false;
    return site === undefined ? origin !== undefined : site === 'same-origin';
  }
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** The origin that the browser has for this listener. `Host` has been checked: it is one of the listener's names. */
function originOf({ headers, socket }: IncomingMessage): string {
  return `${socket instanceof TLSSocket ? 'https' : 'http'}://${headers.host ?? ''}`;
}
