import { createHash } from 'node:crypto';
import express, { type RequestHandler, type Router } from 'express';
import { addRoute } from './api.ts';
import { ApiError } from './api-error.ts';
import { membersOnly, requireMember } from './gate-identity.ts';

const LARGEST_FILE = '1mb';
const MOST_FILES = 64;
const NAME = /^\w[\w.-]{0,127}$/;

/** Adds the write-only file store, in which members create, replace and delete their own files. */
export function addStorage(router: Router, now: () => number): void {
  // By member and name. The oldest are dropped, so that a demo does not fill the memory.
  const files = new Map<string, Buffer>();
  const named: RequestHandler = (request, _response, next) => {
    if (NAME.test(String(request.params.name))) return next();
    throw new ApiError(400, 'bad_request', 'This is not a valid file name.');
  };
  const store: RequestHandler = (request, response) => {
    const created_by = requireMember(response);
    const { name } = request.params;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const replaced = files.delete(`${created_by}/${name}`);
    files.set(`${created_by}/${name}`, body);
    if (files.size > MOST_FILES) files.delete(files.keys().next().value ?? '');
    const sha256 = createHash('sha256').update(body).digest('hex');
    const content_type = request.get('content-type') ?? 'application/octet-stream';
    const data = { name, size_bytes: body.length, sha256, content_type, created_by, created_at: now() };
    response.status(replaced ? 200 : 201).json({ data });
  };
  const remove: RequestHandler = (request, response) => {
    const existed = files.delete(`${requireMember(response)}/${request.params.name}`);
    if (!existed) throw new ApiError(404, 'not_found', 'There is no such file.');
    response.status(204).end();
  };
  const write = [membersOnly, named, express.raw({ type: () => true, limit: LARGEST_FILE }), store];
  addRoute(router, '/storage/files/:name', { post: write, put: write, delete: [membersOnly, named, remove] });
}
