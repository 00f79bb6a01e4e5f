import { type FailureCode, GatewayError } from '../errors.ts';

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const INVALID = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
  'ERR_ASSERTION',
]);

/** The client left: nobody is there to be answered. */
export class ClientGone extends Error {
  constructor() {
    super('The client closed the connection.');
    this.name = 'ClientGone';
  }
}

/** Whatever a client library threw about an upstream, as a failure of the table. A GatewayError passes as it is. */
export function upstreamFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  return new GatewayError(failureCode(codeOf(thrown), thrown), { cause: thrown });
}

function failureCode(code: string, thrown: unknown): FailureCode {
  const name = thrown instanceof Error ? thrown.name : '';
  if (TIMEOUTS.has(code) || name === 'TimeoutError' || name === 'AbortError') return 'upstream_timeout';
  if (INVALID.has(code) || code.startsWith('HPE_') || name === 'HTTPParserError') return 'upstream_invalid';
  // undici has one code for a lost socket and for a broken protocol; only the text tells them apart.
  if (code === 'UND_ERR_SOCKET' && /^bad /.test((thrown as Error).message)) return 'upstream_invalid';
  // A mistake of ours, which no upstream can cause.
  return code === 'UND_ERR_INVALID_ARG' || thrown instanceof TypeError ? 'internal' : 'upstream_unreachable';
}

/**
 * Whether a request failed because the kept connection it was written to had just been closed by the upstream. Only
 * such a request may be sent again, and only if it is safe (RFC 9110 §9.2.2): the upstream has not worked on it. A
 * connection that never carried an answer was not kept: there the upstream refuses, and asking twice adds to its load.
 */
export function wasStaleConnection(thrown: unknown): boolean {
  const code = codeOf(thrown);
  // The second is what the connector makes of the first.
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
