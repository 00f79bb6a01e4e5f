import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';

/**
 * RFC 9110 section 7.2: a name or an address, and a port up to 65535. Servers differ on everything else that URIs allow.
 */
const HOST =
  /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:(\d{1,4}|[0-5]\d{4}|6([0-4]\d{3}|5([0-4]\d\d|5([0-2]\d|3[0-5])))))?$/;

/**
 * Refuses a message that two servers on the path might interpret differently, before any of it is used. Node's parser
 * refuses most of them. This function refuses the rest: a version other than HTTP/1.0 and HTTP/1.1 in HTTP/1 syntax; a
 * Host that is missing, repeated or not a host (RFC 9112 section 3.2); a transfer coding other than chunked, or any in
 * HTTP/1.0 (section 6.1). Throws GatewayError `invalid_request`, whose response closes the connection.
 */
export function assertClearMessage(request: IncomingMessage): void {
  const { httpVersion, rawHeaders } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw unclear(`HTTP/${httpVersion} is not spoken here.`);
  let hosts = 0;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue;
    hosts += 1;
    if (!HOST.test(rawHeaders[at + 1] as string)) throw unclear('The Host field names no host.');
  }
  if (hosts > 1) throw unclear('There is more than one Host field.');
  if (hosts === 0 && httpVersion === '1.1') throw unclear('There is no Host field.');
  const coding = request.headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.trim().toLowerCase() !== 'chunked'))
    throw unclear('The request body is not delimited in a way that can be passed on.');
}

function unclear(message: string): GatewayError {
  return new GatewayError('invalid_request', { message, headers: { connection: 'close' } });
}
