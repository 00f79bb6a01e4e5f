import type { Express } from 'express';
import { ApiError, jsonErrors, nothingHere, onlyMethods } from './api-error.ts';
import type { Position } from './data/enrolments.ts';
import { unixSeconds } from './data/time.ts';
import { gateIdentity, requireIdentity } from './gate-identity.ts';
import { jsonObject } from './json-object.ts';
import type { RestParts } from './rest-api.ts';
import { createService, jsonBody } from './service.ts';

const MOST_SLUGS = 100;

/** The progress service: where the calling member stopped watching each course. */
export function progressService({ data, gate, clock }: RestParts): Express {
  const service = createService();
  const slugs = new Set(data.courses.map((course) => course.slug));
  service.use(gateIdentity('progress', gate));
  service.use((_request, response, next) => {
    requireIdentity(response);
    response.set('cache-control', 'private, no-cache');
    next();
  });
  service
    .route('/v2/positions')
    .get((request, response) => {
      const own = data.positions.get(requireIdentity(response).memberId);
      const found = wantedSlugs(request.query.slugs).flatMap((slug) => own?.get(slug) ?? []);
      response.json({ positions: found });
    })
    .all(onlyMethods('GET', 'HEAD'));
  service
    .route('/v2/positions/:slug')
    .put(jsonBody, (request, response) => {
      const { slug } = request.params;
      if (!slugs.has(slug)) throw new ApiError(404, 'not_found', 'There is no such course.');
      const { memberId } = requireIdentity(response);
      const position = positionFrom(slug, jsonObject(request), unixSeconds(clock()));
      const own = data.positions.get(memberId) ?? new Map<string, Position>();
      data.positions.set(memberId, own.set(slug, position));
      response.json(position);
    })
    .all(onlyMethods('PUT'));
  service.use(nothingHere, jsonErrors);
  return service;
}

function wantedSlugs(given: unknown): readonly string[] {
  if (typeof given !== 'string') throw new ApiError(400, 'bad_request', 'Name the courses: slugs=a,b,c');
  const wanted = new Set(given.split(',').filter((slug) => slug !== ''));
  if (wanted.size > MOST_SLUGS) throw new ApiError(400, 'bad_request', `At most ${MOST_SLUGS} courses at once.`);
  return [...wanted];
}

function positionFrom(slug: string, body: Record<string, unknown>, now: number): Position {
  const { lecture_id, position_ms } = body;
  if (!isCount(lecture_id) || !isCount(position_ms)) {
    throw new ApiError(400, 'bad_request', 'lecture_id and position_ms must be whole numbers from 0.');
  }
  return { course_slug: slug, lecture_id, position_ms, updated_at: now };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
