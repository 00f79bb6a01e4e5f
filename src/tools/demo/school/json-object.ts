import type { Request } from 'express';
import { ApiError } from './api-error.ts';

/** The body of a request that passed `jsonBody`. Throws unless it is an object. */
export function jsonObject(request: Request): Record<string, unknown> {
  const body: unknown = request.body;
  if (body === undefined && !request.is('application/json')) {
    throw new ApiError(415, 'unsupported_media_type', 'Send a JSON body with Content-Type application/json.');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiError(400, 'bad_request', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}
