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

/** The handler for unknown paths. */
export const nothingHere: RequestHandler = () => {
  throw new ApiError(404, 'not_found', 'There is nothing at this address.');
};

/** Writes errors as `{"error":{"code","message"}}`. */
export const jsonErrors: ErrorRequestHandler = (thrown, _request, response, next) => {
  if (response.headersSent) return next(thrown);
  const { status, code, message, headers } = asApiError(thrown);
  response.status(status).set(headers).set('cache-control', 'no-store').json({ error: { code, message } });
};

/** Express and its body parsers mark errors of the caller with a 4xx. An unknown error is logged and becomes an opaque 500. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const { status } = Object(thrown) as { status?: unknown };
  if (status === 413) return new ApiError(413, 'payload_too_large', 'The request body is too large.');
  if (status === 415) return new ApiError(415, 'unsupported_media_type', 'This content type is not supported.');
  if (Number(status) < 500) return new ApiError(400, 'bad_request', 'The request could not be understood.');
  console.error('school: a request failed', thrown);
  return new ApiError(500, 'internal_error', 'Something went wrong at the school.');
}
