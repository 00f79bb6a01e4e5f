import { type FailureCode, GatewayError } from '../errors.ts';

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const INVALID = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'ERR_ASSERTION',
]);

/** The client disconnected: no response can be sent. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.');
    this.name = 'ClientGone';
  }
}

/** The upstream had closed a kept-alive connection before the request on it arrived. */
class StaleConnection extends Error {}

/**
 * The error for a connection of our own client that was lost during a request.
 * @param isStale whether it has carried other requests, and nothing of a response to this one
 */
export function lostConnection(cause: NodeJS.ErrnoException, isStale: boolean): Error {
  if (isStale) return new StaleConnection('The upstream had closed the connection.', { cause });
  // Without the code of the cause, which would say that another attempt is worth it.
  return cause.code === 'ETIMEDOUT' ? cause : new Error('The connection to the upstream was lost.', { cause });
}

/**
 * Maps an error that a client library threw about an upstream to a GatewayError. A GatewayError is returned unchanged.
 */
export function upstreamFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(failureCode(codeOf(thrown), thrown), { cause: thrown });
}

/** The error for a response that cannot be passed on or used. */
export function unusableResponse(what: string): GatewayError {
  return new GatewayError('upstream_invalid', { cause: new Error(`The upstream answered with ${what}.`) });
}

function failureCode(code: string, thrown: unknown): FailureCode {
  const name = thrown instanceof Error ? thrown.name : '';
  if (TIMEOUTS.has(code) || name === 'TimeoutError' || name === 'AbortError') return 'upstream_timeout';
  if (INVALID.has(code) || code.startsWith('HPE_') || name === 'HTTPParserError') return 'upstream_invalid';
  // undici uses one code for a lost socket and for a protocol error; only the message tells them apart.
  if (code === 'UND_ERR_SOCKET' && /^bad /.test((thrown as Error).message)) return 'upstream_invalid';
  // A bug in our code; no upstream can cause it.
  return code === 'UND_ERR_INVALID_ARG' || thrown instanceof TypeError ? 'internal' : 'upstream_unreachable';
}

/**
 * Whether a request failed because the upstream had just closed the kept-alive connection it was written to. Only such
 * a request may be sent again, and only if it is safe (RFC 9110 section 9.2.2): the upstream has not processed it. If a
 * connection has never carried a response, the upstream is refusing connections, and retrying would add to its load.
 */
export function wasStaleConnection(thrown: unknown): boolean {
  if (thrown instanceof StaleConnection) return true;
  const code = codeOf(thrown);
  // The connector renames the first code to the second.
  if (code === 'ECONNRESET' || code === 'UPSTREAM_RESET' || code === 'EPIPE') return true;
  const read = (thrown as { socket?: { bytesRead?: number } } | undefined)?.socket?.bytesRead;
  return (
    code === 'UND_ERR_SOCKET' && read !== undefined && read > 0 && (thrown as Error).message === 'other side closed'
  );
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
