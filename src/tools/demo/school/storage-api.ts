import { createHash } from 'node:crypto';
import express, { type RequestHandler, Router } from 'express';
import { ApiError, onlyMethods } from './api-error.ts';
import { unixSeconds } from './data/time.ts';
import { requireIdentity } from './gate-identity.ts';

const LARGEST_FILE = '1mb';
const MOST_FILES = 64;
const NAME = /^[\w][\w.-]{0,127}$/;

/** The write-only file store, in which members create, replace and delete their own files. */
export function storageApi(clock: () => number): Router {
  const router = Router({ caseSensitive: true });
  // By member and name. The oldest are dropped, so that a demo does not fill the memory.
  const files = new Map<string, Buffer>();

  const store: RequestHandler = (request, response) => {
    const { memberId } = requireIdentity(response);
    const name = String(request.params.name);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const key = `${memberId}/${name}`;
    const replaced = files.delete(key);
    files.set(key, body);
    if (files.size > MOST_FILES) files.delete(files.keys().next().value ?? '');
    response.status(replaced ? 200 : 201).json({
      data: {
        name,
        size_bytes: body.length,
        sha256: createHash('sha256').update(body).digest('hex'),
        content_type: request.get('content-type') ?? 'application/octet-stream',
        created_by: memberId,
        created_at: unixSeconds(clock()),
      },
    });
  };
  const checked: RequestHandler = (request, response, next) => {
    requireIdentity(response);
    if (!NAME.test(String(request.params.name)))
      throw new ApiError(400, 'bad_request', 'This is not a valid file name.');
    next();
  };
  const rawBody = express.raw({ type: () => true, limit: LARGEST_FILE });
  router
    .route('/storage/files/:name')
    .post(checked, rawBody, store)
    .put(checked, rawBody, store)
    .delete(checked, (request, response) => {
      const { memberId } = requireIdentity(response);
      if (!files.delete(`${memberId}/${request.params.name}`)) {
        throw new ApiError(404, 'not_found', 'There is no such file.');
      }
      response.status(204).end();
    })
    .all(onlyMethods('POST', 'PUT', 'DELETE'));
  return router;
}
