import type { ErrorRequestHandler, RequestHandler } from 'express';

/** An error response of the REST service: status, a code for programs and a sentence for people. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A handler that refuses all methods, naming those that are allowed. */
export function onlyMethods(...methods: readonly string[]): RequestHandler {
  return () => {
    throw new ApiError(405, 'method_not_allowed', `Only ${methods.join(', ')} here.`, { allow: methods.join(', ') });
  };
}

/** The handler for unknown paths. */
export const nothingHere: RequestHandler = () => {
  throw new ApiError(404, 'not_found', 'There is nothing at this address.');
};

/** Writes errors as `{"error":{"code","message"}}`. An unknown error is logged and becomes an opaque 500. */
export const jsonErrors: ErrorRequestHandler = (thrown, _request, response, next) => {
  if (response.headersSent) {
    next(thrown);
    return;
  }
  const { status, code, message, headers } = asApiError(thrown);
  response.status(status).set(headers).set('cache-control', 'no-store').json({ error: { code, message } });
};

function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  // Express and its body parsers give errors of the caller a 4xx status.
  const status = statusOf(thrown);
  if (status === 413) return new ApiError(413, 'payload_too_large', 'The request body is too large.');
  if (status === 415) return new ApiError(415, 'unsupported_media_type', 'This content type is not supported.');
  if (status >= 400 && status < 500) return new ApiError(400, 'bad_request', 'The request could not be understood.');
  console.error('school: a request failed', thrown);
  return new ApiError(500, 'internal_error', 'Something went wrong at the school.');
}

/** The HTTP status of anything thrown, 500 by default. */
export function statusOf(thrown: unknown): number {
  if (typeof thrown !== 'object' || thrown === null || !('status' in thrown)) return 500;
  return typeof thrown.status === 'number' ? thrown.status : 500;
}
