import { setImmediate } from 'node:timers/promises';
import type { RequestHandler, Router } from 'express';
import { addRoute, gatedApi, type Parts, pageOf, wholeNumber } from './api.ts';
import { ApiError } from './api-error.ts';
import { type Area, addArea } from './area-api.ts';
import { addStorage } from './file-store.ts';
import { type Identity, identityOf, requireMember } from './gate-identity.ts';
import { derivedRows } from './rows.ts';

const MOST_TICKS = 100;

/** Everything below /api/v1. */
export function restApi(parts: Parts): Router {
  const { members, enrolments, areas } = parts.data;
  return gatedApi('school', parts, (router) => {
    addRoute(router, '/whoami', {
      get(request, response) {
        const claims: Partial<Identity> = identityOf(response) ?? {};
        const { sub = null, email = null, scope = null, client_id = null } = claims;
        const name = members.find(({ id }) => id === sub)?.name ?? null;
        response.json({ data: { member_id: sub, email, name, scope, client_id, headers: request.headers } });
      },
    });
    addRoute(router, '/ticks', { get: ticks });
    addRoute(router, '/members/:id/enrolments', {
      get(request, response) {
        const memberId = requireMember(response);
        if (request.params.id !== memberId) throw new ApiError(403, 'not_yours', 'These enrolments are not yours.');
        const own = enrolments.filter(({ member_id }) => member_id === memberId);
        const rows = own.map(({ id, course, enrolled_at, expires_at }) => {
          const { id: courseId, slug, title } = course;
          const lifetime = expires_at === 0 ? 1 : 0;
          return { id, course: { id: courseId, slug, title }, enrolled_at, expires_at, lifetime };
        });
        response.json(pageOf(request, rows));
      },
    });
    // The gate lets only those through who teach the course.
    addRoute(router, '/teaching/:course/students', {
      get(request, response) {
        requireMember(response);
        const enrolled = enrolments.filter(({ course }) => course.slug === request.params.course);
        const rows = enrolled.map(({ member_id, enrolled_at, expires_at }) => {
          const name = members.find(({ id }) => id === member_id)?.name ?? null;
          return { id: member_id, name, enrolled_at, expires_at };
        });
        response.json(pageOf(request, rows));
      },
    });
    addStorage(router, parts.now);
    const derived = derivedRows(parts.data);
    for (const area of areas as readonly Area[])
      addArea(router, area, area.rows ?? derived[area.name] ?? [], parts.now);
  });
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
