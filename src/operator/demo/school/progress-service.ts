import { type Request, type RequestHandler, type Response, Router } from 'express';
import { addRoute, gatedApi, jsonBody, jsonObject, type Parts, queryText } from './api.ts';
import { ApiError } from './api-error.ts';
import { positionKey } from './data/school-data.ts';
import { membersOnly, requireMember } from './gate-identity.ts';

const MOST_SLUGS = 100;

/** The progress service: where the calling member stopped watching each course. */
export function progressService(parts: Parts): Router {
  const { courses, positions } = parts.data;
  const read: RequestHandler = (request, response) => {
    const given = queryText(request, 'slugs');
    if (given === undefined) throw new ApiError(400, 'bad_request', 'Name the courses: slugs=a,b,c');
    const slugs = [...new Set(given.split(',').filter((slug) => slug !== ''))];
    if (slugs.length > MOST_SLUGS) throw new ApiError(400, 'bad_request', `At most ${MOST_SLUGS} courses at once.`);
    const memberId = requireMember(response);
    response.json({ positions: slugs.flatMap((slug) => positions.get(positionKey(memberId, slug)) ?? []) });
  };
  const store: RequestHandler = (request, response) => {
    const course_slug = courses.find(({ slug }) => slug === request.params.slug)?.slug;
    if (course_slug === undefined) throw new ApiError(404, 'not_found', 'There is no such course.');
    const { lecture_id, position_ms } = jsonObject(request);
    if (!isCount(lecture_id) || !isCount(position_ms)) {
      throw new ApiError(400, 'bad_request', 'lecture_id and position_ms must be whole numbers from 0.');
    }
    const position = { course_slug, lecture_id, position_ms, updated_at: parts.now() };
    positions.set(positionKey(requireMember(response), course_slug), position);
    response.json(position);
  };
  const router = Router({ caseSensitive: true });
  addRoute(router, '/internal/members/:id/roles', { get: (request, response) => rolesOf(parts, request, response) });
  return router.use(
    gatedApi('progress', parts, (gated) => {
      gated.use(membersOnly);
      addRoute(gated, '/v2/positions', { get: read });
      addRoute(gated, '/v2/positions/:slug', { put: [jsonBody, store] });
    }),
  );
}

/** What a member is in each course. Not for apps: only the gate reaches this service. */
function rolesOf({ data: { members, enrolments } }: Parts, { params }: Request, response: Response): void {
  const member = members.find(({ id }) => id === params.id);
  if (member === undefined) throw new ApiError(404, 'not_found', 'There is no such member.');
  const studies = enrolments.filter(({ member_id }) => member_id === member.id).map(({ course }) => course.slug);
  const courses = [
    ...studies.map((slug) => [slug, 'student']),
    ...(member.teaches ?? []).map((slug) => [slug, 'instructor']),
  ];
  response.json({ roles: [], courses: Object.fromEntries(courses) });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
