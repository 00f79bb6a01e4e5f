import type { ErrorRequestHandler, RequestHandler } from 'express';

/** An answer that refuses a REST call: status, a code for programs and a sentence for people. */
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

/** In: the methods a path answers. Out: a handler that refuses every other one. */
export function onlyMethods(...methods: readonly string[]): RequestHandler {
  return () => {
    throw new ApiError(405, 'method_not_allowed', `Only ${methods.join(', ')} here.`, { allow: methods.join(', ') });
  };
}

/** The handler for paths nothing else answered. */
export const nothingHere: RequestHandler = () => {
  throw new ApiError(404, 'not_found', 'There is nothing at this address.');
};

/** Writes any error as `{"error":{"code","message"}}`. What it does not know is an opaque 500, with the cause logged. */
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
  // Express and its body parsers mark what the caller got wrong with a 4xx status.
  const status = statusOf(thrown);
  if (status === 413) return new ApiError(413, 'payload_too_large', 'The request body is too large.');
  if (status === 415) return new ApiError(415, 'unsupported_media_type', 'This kind of body is not taken here.');
  if (status >= 400 && status < 500) return new ApiError(400, 'bad_request', 'The request could not be understood.');
  console.error('school: a request failed', thrown);
  return new ApiError(500, 'internal_error', 'Something went wrong at the school.');
}

/** In: anything thrown. Out: the HTTP status it asks for, or 500. */
export function statusOf(thrown: unknown): number {
  if (typeof thrown !== 'object' || thrown === null || !('status' in thrown)) return 500;
  return typeof thrown.status === 'number' ? thrown.status : 500;
}
