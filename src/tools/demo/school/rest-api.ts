import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import express, { type RequestHandler, type Router } from 'express';
import { addRoute, gatedApi, type Parts, pageOf, wholeNumber } from './api.ts';
import { ApiError } from './api-error.ts';
import { addAreas } from './area-api.ts';
import type { Enrolment } from './data/enrolments.ts';
import { identityOf, membersOnly, requireMember } from './gate-identity.ts';

const LARGEST_FILE = '1mb';
const MOST_FILES = 64;
const MOST_TICKS = 100;
const NAME = /^[\w][\w.-]{0,127}$/;

/** Everything below /api/v1. */
export function restApi(parts: Parts): Router {
  const { members, enrolments } = parts.data;
  return gatedApi('school', parts, (router) => {
    addRoute(router, '/whoami', {
      get(request, response) {
        const { memberId = null, claims } = identityOf(response) ?? {};
        const { email = null, scope = null, client_id = null } = claims ?? {};
        const name = members.find((member) => member.id === memberId)?.name ?? null;
        response.json({ data: { member_id: memberId, email, name, scope, client_id, headers: request.headers } });
      },
    });
    addRoute(router, '/ticks', { get: ticks });
    addRoute(router, '/members/:id/enrolments', {
      get(request, response) {
        const memberId = requireMember(response);
        if (request.params.id !== memberId) throw new ApiError(403, 'not_yours', 'These enrolments are not yours.');
        const own = enrolments.filter((enrolment) => enrolment.memberId === memberId);
        response.json(pageOf(request, own.map(enrolmentRow)));
      },
    });
    addStorage(router, parts.now);
    addAreas(router, parts);
  });
}

function enrolmentRow({ id, course, enrolledAt, expiresAt }: Enrolment): object {
  const { id: courseId, slug, title } = course;
  const lifetime = expiresAt === 0 ? 1 : 0;
  return { id, course: { id: courseId, slug, title }, enrolled_at: enrolledAt, expires_at: expiresAt, lifetime };
}

/** Sends `count` server-sent events and ends. Each one is written in its own turn, so that they are separate chunks. */
const ticks: RequestHandler = async (request, response) => {
  const count = wholeNumber(request, 'count', 3);
  if (count > MOST_TICKS) throw new ApiError(400, 'bad_request', `count must be at most ${MOST_TICKS}.`);
  response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.flushHeaders();
  for (let tick = 1; tick <= count && !response.destroyed; tick += 1) {
    response.write(`id: ${tick}\nevent: tick\ndata: {"tick":${tick},"of":${count}}\n\n`);
    await setImmediate();
  }
  response.end();
};

/** The write-only file store, in which members create, replace and delete their own files. */
function addStorage(router: Router, now: () => number): void {
  // By member and name. The oldest are dropped, so that a demo does not fill the memory.
  const files = new Map<string, Buffer>();
  const named: RequestHandler = (request, _response, next) => {
    if (!NAME.test(String(request.params.name)))
      throw new ApiError(400, 'bad_request', 'This is not a valid file name.');
    next();
  };
  const store: RequestHandler = (request, response) => {
    const memberId = requireMember(response);
    const name = String(request.params.name);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const replaced = files.delete(`${memberId}/${name}`);
    files.set(`${memberId}/${name}`, body);
    if (files.size > MOST_FILES) files.delete(files.keys().next().value ?? '');
    response.status(replaced ? 200 : 201).json({
      data: {
        name,
        size_bytes: body.length,
        sha256: createHash('sha256').update(body).digest('hex'),
        content_type: request.get('content-type') ?? 'application/octet-stream',
        created_by: memberId,
        created_at: now(),
      },
    });
  };
  const write = [membersOnly, named, express.raw({ type: () => true, limit: LARGEST_FILE }), store];
  const remove: RequestHandler = (request, response) => {
    if (!files.delete(`${requireMember(response)}/${request.params.name}`)) {
      throw new ApiError(404, 'not_found', 'There is no such file.');
    }
    response.status(204).end();
  };
  addRoute(router, '/storage/files/:name', { post: write, put: write, delete: [membersOnly, named, remove] });
}
