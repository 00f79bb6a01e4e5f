import type { IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { boundedExchange } from '../../http/bounded-client.ts';
import { DocumentFailure } from './failure.ts';
import type { DocumentNetwork } from './network.ts';

/** The maximum size of a document in bytes (draft-ietf-oauth-client-id-metadata-document section 6.6). */
const LARGEST = 5 * 1024;
/** Milliseconds that a fetch usually may take. */
export const DOCUMENT_DEADLINE = 2500;

/**
 * Fetches the document at `url`, which must have passed the URL rule. The name is resolved once, inside the connection
 * itself: all its addresses must be public, and the connection goes to one of the addresses that were checked. No
 * redirects, no proxy (an agent of its own, which ignores the environment), no kept connections, no cookies. Throws
 * DocumentFailure.
 * @param deadline - milliseconds for the whole fetch
 * @param stop - ends it earlier
 */
export async function fetchDocument(url: URL, network: DocumentNetwork, deadline: number, stop?: AbortSignal) {
  const target = Object.assign(new URL(url), { port: String(network.port) });
  const late = AbortSignal.timeout(deadline);
  try {
    const { body, headers, cut } = await boundedExchange(target, {
      headers: { host: url.host, accept: 'application/json', 'user-agent': 'coursegate' },
      agent: false,
      lookup: checkedLookup(network),
      ...(network.trusted === undefined ? {} : { ca: network.trusted }),
      inspect: requireDocument,
      signal: stop === undefined ? late : AbortSignal.any([late, stop]),
      longest: LARGEST,
    });
    if (cut) throw tooLarge();
    return { body, cacheControl: headers['cache-control'] };
  } catch (thrown) {
    if (thrown instanceof DocumentFailure) throw thrown;
    if (late.aborted)
      throw new DocumentFailure('unavailable', `was not answered within ${deadline / 1000} seconds`, thrown);
    throw unreachable(thrown);
  }
}

/** Throws DocumentFailure unless the response, of which no body has been read, can be that of a document. */
function requireDocument({ statusCode = 0, headers, headersDistinct }: IncomingMessage): void {
  const answered = `was answered with status ${statusCode}`;
  if (statusCode === 404 || statusCode === 410) throw new DocumentFailure('gone', answered);
  if (statusCode >= 300 && statusCode < 400)
    throw new DocumentFailure('unavailable', `${answered}: redirects are not followed`);
  if (statusCode !== 200) throw new DocumentFailure('unavailable', `${answered} instead of 200`);
  const [type = '', ...others] = headersDistinct['content-type'] ?? [];
  if (others.length > 0 || !isJson(type))
    throw new DocumentFailure('unavailable', 'has the wrong content type: it must be application/json');
  if (headers['content-encoding'] !== undefined)
    throw new DocumentFailure('unavailable', 'is compressed: it must have no content encoding');
  if (Number(headers['content-length'] ?? 0) > LARGEST) throw tooLarge();
}

function tooLarge(): DocumentFailure {
  return new DocumentFailure('unavailable', `is larger than ${LARGEST} bytes`);
}

/** The same words for a name without a public address and for a failed connection, so that no network can be scanned. */
function unreachable(cause: unknown): DocumentFailure {
  const message =
    'cannot be reached: its host needs a public address and a valid certificate, and must answer on port 443';
  return new DocumentFailure('unavailable', message, cause);
}

function isJson(contentType: string): boolean {
  return /^application\/(json|[a-z0-9!#$&^_.-]+\+json)[\t ]*(;|$)/i.test(contentType);
}

/** Resolves a connection's host, once, and returns exactly the addresses that were checked. */
function checkedLookup(network: DocumentNetwork): LookupFunction {
  return (host, options, callback) => {
    network.resolve(host).then(
      (found) => {
        const addresses = found.map((address) => ({ address, family: isIP(address) }));
        const [first] = addresses;
        const refused = found.find((address) => !network.permits(address));
        if (refused !== undefined || first === undefined) {
          const reason = refused === undefined ? 'has no address' : `resolves to ${refused}, which is not public`;
          callback(unreachable(new Error(`${host} ${reason}`)), []);
        } else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (thrown: unknown) => callback(unreachable(new Error(`${host} does not resolve`, { cause: thrown })), []),
    );
  };
}
