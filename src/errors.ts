/**
 * The one error type of the gate, and the one table that maps it to the wire. Anything not in the table becomes an
 * opaque 500. Refusals (a challenge, an OAuth protocol error) are values and never pass through here.
 */
export type FailureCode = keyof typeof FAILURES;

const FAILURES = {
  invalid_request: { status: 400, message: 'The request is not well formed.' },
  method_override: { status: 400, message: 'A parameter of this request asks for another method.' },
  invalid_client: { status: 401, message: 'The client could not be authenticated.' },
  unauthorized: { status: 401, message: 'The request could not be authenticated.' },
  forbidden: { status: 403, message: 'This request is not allowed.' },
  not_found: { status: 404, message: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, message: 'This address does not support this method.' },
  conflict: { status: 409, message: 'This conflicts with something that already exists.' },
  payload_too_large: { status: 413, message: 'The request body is too large.' },
  uri_too_long: { status: 414, message: 'The address is too long.' },
  unsupported_media_type: { status: 415, message: 'This address does not support this content type.' },
  too_many_requests: { status: 429, message: 'Too many requests. Try again later.' },
  internal: { status: 500, message: 'Something went wrong on our side.' },
  upstream_unreachable: { status: 502, message: 'The service behind this address cannot be reached.' },
  upstream_invalid: { status: 502, message: 'The service behind this address returned an invalid response.' },
  upstream_overloaded: { status: 503, message: 'The service behind this address is overloaded right now.' },
  upstream_unavailable: { status: 503, message: 'The service behind this address is not answering right now.' },
  upstream_timeout: { status: 504, message: 'The service behind this address took too long to answer.' },
  /** RFC 5842 section 7.2. */
  loop_detected: { status: 508, message: 'The service behind this address sends requests back to this one.' },
  login_unavailable: { status: 503, message: 'The sign-in service cannot be reached right now.' },
  store_unavailable: { status: 503, message: 'The service is not available right now.' },
} as const satisfies Record<string, { status: number; message: string }>;

/** Seconds a client is asked to wait before it tries a 503 again (RFC 9110 section 10.2.3). */
const RETRY_AFTER = '5';

/** Carries a code from the table, a message that clients may see, and a cause that only the log sees. */
export class GatewayError extends Error {
  readonly code: FailureCode;
  readonly status: number;
  /** Header fields of the response in every voice, such as Allow and Retry-After. */
  readonly headers: Readonly<Record<string, string>>;
  /** Members of the body in the `problem` voice, beside and over the usual ones. */
  readonly details: object | undefined;

  constructor(
    code: FailureCode,
    options: { message?: string; cause?: unknown; headers?: Record<string, string>; details?: object } = {},
  ) {
    const { status, message } = FAILURES[code];
    super(options.message ?? message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.status = status;
    this.details = options.details;
    this.headers = { ...(status === 503 ? { 'retry-after': RETRY_AFTER } : {}), ...options.headers };
  }
}

/** A request that says something wrong: 400. */
export function invalidRequest(message: string): GatewayError {
  return new GatewayError('invalid_request', { message });
}

/** Converts anything thrown. Unknown errors and library errors become `internal`. */
export function asGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal', { cause: thrown });
}

/**
 * How an error is written: OAuth error JSON (RFC 6749 section 5.2), problem JSON (RFC 9457), GraphQL, JSON-RPC, a page.
 */
export type Voice = 'oauth' | 'problem' | 'graphql' | 'jsonrpc' | 'page';

/** A complete response, ready to send. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What support needs to find a request in the logs: its id, and the id of its trace if it has one. */
interface Reference {
  readonly requestId: string;
  readonly traceId?: string | undefined;
}

/** Renders a failure for a program. The `page` voice is rendered by the pages. */
export function renderFailure(
  failure: GatewayError,
  voice: Exclude<Voice, 'page'>,
  reference: string | Reference,
): Answer {
  const body = BODIES[voice](failure, typeof reference === 'string' ? { requestId: reference } : reference);
  return {
    status: failure.status,
    headers: {
      ...failure.headers,
      'content-type': voice === 'problem' ? 'application/problem+json' : 'application/json',
      'cache-control': 'no-store',
    },
    body: JSON.stringify(body),
  };
}

/** Maps a failure to one of the few codes of RFC 6749 sections 5.2 and 4.1.2.1. */
export function oauthError(failure: GatewayError): string {
  if (failure.code === 'invalid_client') return 'invalid_client';
  if (failure.code === 'too_many_requests') return 'temporarily_unavailable';
  if (failure.status < 500) return 'invalid_request';
  return failure.status === 503 ? 'temporarily_unavailable' : 'server_error';
}

/** JSON-RPC 2.0 section 5.1: invalid request, internal error, and -32000 for errors that the server defines. */
function jsonRpcCode(failure: GatewayError): number {
  if (failure.code === 'invalid_request' || failure.code === 'payload_too_large') return -32_600;
  return failure.code === 'internal' ? -32_603 : -32_000;
}

const BODIES = {
  oauth: (failure, reference) => ({
    error: oauthError(failure),
    error_description: failure.message,
    ...(failure.status >= 500 ? inSnakeCase(reference) : {}),
  }),
  problem: (failure, reference) => ({
    type: 'about:blank',
    title: failure.message,
    status: failure.status,
    code: failure.code,
    ...failure.details,
    ...inSnakeCase(reference),
  }),
  graphql: (failure, reference) => ({
    errors: [{ message: failure.message, extensions: { code: failure.code.toUpperCase(), ...reference } }],
  }),
  jsonrpc: (failure, reference) => ({
    jsonrpc: '2.0',
    id: null,
    error: { code: jsonRpcCode(failure), message: failure.message, data: reference },
  }),
} as const satisfies Record<Exclude<Voice, 'page'>, (failure: GatewayError, reference: Reference) => object>;

function inSnakeCase({ requestId, traceId }: Reference): object {
  return { request_id: requestId, ...(traceId === undefined ? {} : { trace_id: traceId }) };
}
