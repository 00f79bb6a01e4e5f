import { counted } from '../../http/amounts.ts';
import { listOf, objectOf } from '../../http/json-object.ts';
import { alignedLines } from './columns.ts';
import { ConnectError } from './connect-error.ts';
import { requestResource } from './oauth/tokens.ts';
import type { Transport } from './oauth/transport.ts';
import { printable } from './printable.ts';
import { responseJson, unusable } from './response-json.ts';

/** One course, from either API. Missing information is `unknown`, which differs from `none`. */
export interface ListedCourse {
  readonly slug: string;
  readonly access: { readonly kind: 'lifetime' | 'unknown' } | { readonly kind: 'until'; readonly date: Date };
  readonly watched:
    | { readonly kind: 'none' | 'unknown' }
    | { readonly kind: 'at'; readonly lecture: string; readonly seconds: number };
}

export interface Courses {
  /** The Account API lists the courses a member is enrolled in; the REST API those the member may read. */
  readonly source: 'Account API' | 'REST API';
  readonly member: { readonly id: string; readonly email: string | undefined } | undefined;
  /** The total number; `courses` may hold only the first page. */
  readonly total: number;
  readonly courses: readonly ListedCourse[];
}

export const PAGE = 50;
/** The query of the contract, with the number of courses as `$n`. */
export const QUERY =
  'query($n:Int){viewer{id email enrolledCourses(first:$n){totalCount nodes{slug expireDate hasLifetimeAccess ' +
  'lastWatchedLecture{lectureId positionSeconds}}}}}';

/**
 * Reads the member's courses: from the Account API, or from REST if there is no Account API (404) or the token has
 * courses:read but not account:read. `scope` is the granted scope, if known. Throws oauth4webapi's
 * WWWAuthenticateChallengeError on 401 and 403, and ConnectError on an unusable response.
 */
export async function readCourses(
  origin: string,
  token: string,
  scope: string | undefined,
  http: Transport,
): Promise<Courses> {
  const granted = scope?.split(' ');
  if (granted?.includes('account:read') === false && granted.includes('courses:read'))
    return readRest(origin, token, http);
  const body = { query: QUERY, variables: { n: PAGE } };
  const response = await requestResource(token, new URL('/account/graphql', origin), http, body);
  if (response.status === 404) {
    await response.body?.cancel();
    return readRest(origin, token, http);
  }
  const answer = objectOf(await readJson(response));
  const viewer = objectOf(objectOf(answer.data).viewer);
  if (viewer.id === undefined) {
    const message = objectOf(listOf(answer.errors)[0]).message;
    throw new ConnectError(
      `The Account API returned no data${typeof message === 'string' ? `: ${message}` : ''}.`,
      "Check that the token has account:read, and check the gate's log.",
    );
  }
  return coursesOfViewer(viewer);
}

/** The courses in the `viewer` of an Account API. */
export function coursesOfViewer(viewer: Readonly<Record<string, unknown>>): Courses {
  const courses = listOf(objectOf(viewer.enrolledCourses).nodes).map(toCourse);
  const total = objectOf(viewer.enrolledCourses).totalCount;
  return {
    source: 'Account API',
    member: { id: String(viewer.id), email: typeof viewer.email === 'string' ? viewer.email : undefined },
    total: typeof total === 'number' ? total : courses.length,
    courses,
  };
}

async function readRest(origin: string, token: string, http: Transport): Promise<Courses> {
  return coursesOfList(await readJson(await requestResource(token, new URL('/api/v1/courses', origin), http)));
}

/** The courses in a list of a REST API. */
export function coursesOfList(answer: unknown): Courses {
  const envelope = objectOf(answer);
  const courses = listIn(answer)?.map(toCourse) ?? [];
  const total = envelope.total ?? objectOf(envelope.meta ?? envelope.paging ?? envelope.pagination).total;
  return { source: 'REST API', member: undefined, total: typeof total === 'number' ? total : courses.length, courses };
}

/** The list in an answer of a REST API: bare, or in an envelope under any name; undefined if there is none. */
export function listIn(answer: unknown): readonly unknown[] | undefined {
  return Array.isArray(answer) ? answer : Object.values(objectOf(answer)).find(Array.isArray);
}

async function readJson(response: Response): Promise<unknown> {
  const answer = response.ok || response.status === 400 ? await responseJson(response) : undefined;
  if (answer !== undefined) return answer;
  throw unusable(response);
}

function toCourse(node: unknown): ListedCourse {
  const course = objectOf(node);
  const until = date(course.expireDate ?? course.expire_date ?? course.expires_at ?? course.access_until);
  const lifetime = course.hasLifetimeAccess ?? course.has_lifetime_access ?? course.lifetime_access ?? course.lifetime;
  return {
    slug: plain(course.slug) ?? plain(course.title) ?? plain(course.name) ?? plain(course.id) ?? '?',
    access: lifetime === true ? { kind: 'lifetime' } : until ? { kind: 'until', date: until } : { kind: 'unknown' },
    // Not `??`: null means that the member has not started, undefined that the API has no such field.
    watched: position('lastWatchedLecture' in course ? course.lastWatchedLecture : course.last_watched_lecture),
  };
}

/** Text or a number; WordPress has `{ rendered: … }`. Undefined for anything else. */
function plain(value: unknown): string | undefined {
  const inner = objectOf(value).rendered ?? value;
  return typeof inner === 'string' || typeof inner === 'number' ? String(inner) : undefined;
}

function position(value: unknown): ListedCourse['watched'] {
  const watched = objectOf(value);
  const lecture = watched.lectureId ?? watched.lecture_id;
  if (lecture === undefined || lecture === null) return { kind: value === null ? 'none' : 'unknown' };
  const seconds = Number(watched.positionSeconds ?? watched.position_seconds ?? 0) || 0;
  return { kind: 'at', lecture: String(lecture), seconds };
}

/** Parses ISO text or Unix seconds. Undefined for anything else, and for 0. */
function date(value: unknown): Date | undefined {
  if ((typeof value !== 'string' && typeof value !== 'number') || value === 0) return undefined;
  const parsed = new Date(typeof value === 'number' ? value * 1000 : value);
  return Number.isNaN(parsed.getTime()) ? undefined : parsed;
}

/** When the member's access ends: a day, "for life", or a dash when unknown. */
function accessText({ access }: ListedCourse): string {
  if (access.kind === 'until') return access.date.toISOString().slice(0, 10);
  return access.kind === 'lifetime' ? 'for life' : '–';
}

/** Where the member stopped watching; a dash when unknown. */
function watchedText({ watched }: ListedCourse): string {
  if (watched.kind === 'at') return `lecture ${watched.lecture} at ${playbackTime(watched.seconds)}`;
  return watched.kind === 'none' ? 'not started' : '–';
}

/** Formats seconds as m:ss, or as h:mm:ss from one hour. */
export function playbackTime(seconds: number): string {
  const total = Math.max(0, Math.floor(seconds));
  const [hours, minutes] = [Math.floor(total / 3600), Math.floor(total / 60) % 60];
  const tail = String(total % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${tail}` : `${minutes}:${tail}`;
}

/** The courses as lines for the terminal: a summary, then a table. */
export function courseTable({ member, courses, total }: Courses): string[] {
  const who = member === undefined ? 'Courses of the site' : `${member.email ?? 'Member'} (id ${member.id})`;
  const count = courses.length < total ? `${courses.length} of ${counted(total, 'course')}` : counted(total, 'course');
  const head = ['COURSE', 'ACCESS UNTIL', 'LAST WATCHED'];
  const rows = courses.map((course) => [course.slug, accessText(course), watchedText(course)].map(printable));
  return [printable(`${who}: ${count}`), '', ...alignedLines([head, ...rows])];
}
