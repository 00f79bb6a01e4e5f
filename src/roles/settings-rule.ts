/**
 * The language in which scopes, routes, tools and fields name the role that they need: `admin` at the school,
 * `instructor of any course`, `instructor of {path.courseId}`. A list is met by any of its entries.
 */
import { z } from 'zod';
import type { MemberRoles } from '../oauth/member-roles.ts';

/** Where the id of the course is: a segment of the route's path, a query parameter, a member of the body, an argument. */
export interface CoursePlace {
  readonly in: 'path' | 'query' | 'body' | 'args';
  readonly name: string;
}

/** One role, at the school if `course` is undefined. */
interface NeededRole {
  readonly role: string;
  readonly course: CoursePlace | 'any' | undefined;
}

/** Met by any of its roles. */
export type RoleRule = readonly NeededRole[];

/** In characters. Of one role. */
export const LONGEST_ROLE = 64;
const MOST_ROLES = 8;

const NEED = /^([^\s{},]{1,64})(?: of (?:any course|\{(path|query|body|args)\.([A-Za-z]\w{0,63})\}))?$/;

const MESSAGE = 'must be a role such as admin, instructor of any course, or instructor of {path.courseId}';
const need = z.string().regex(NEED, MESSAGE);

/** The value of a key `role`, parsed. */
export const roleRule = z
  .union([need, z.array(need).min(1).max(MOST_ROLES)], MESSAGE)
  .transform((given): RoleRule => [given].flat().map(parseNeed));

/** Parses the same value where it is not in the configuration; undefined if it is none. */
export function parseRule(given: unknown): RoleRule | undefined {
  const parsed = roleRule.safeParse(given, { jitless: true });
  return parsed.success ? parsed.data : undefined;
}

function parseNeed(text: string): NeededRole {
  const [, role = '', place, name = ''] = NEED.exec(text) ?? [];
  if (place !== undefined) return { role, course: { in: place as CoursePlace['in'], name } };
  return { role, course: text.endsWith(' of any course') ? 'any' : undefined };
}

/** The places in which a rule looks for the course. */
export function placesOf(rule: RoleRule): readonly CoursePlace[] {
  return rule.flatMap(({ course }) => (typeof course === 'object' ? [course] : []));
}

/**
 * Whether a member's roles meet a rule. This is the only decision about a role.
 * @param courseAt the id of the course at a place; undefined if there is none, which meets no rule
 */
export function meets(
  rule: RoleRule,
  { school, courses }: MemberRoles,
  courseAt: (place: CoursePlace) => string | undefined,
): boolean {
  return rule.some(({ role, course }) => {
    if (course === undefined) return school.has(role);
    if (course === 'any') return [...courses.values()].some((held) => held.has(role));
    const id = courseAt(course);
    return id !== undefined && courses.get(id)?.has(role) === true;
  });
}

/** Whether some course would meet the rule. */
export function canMeet(rule: RoleRule, roles: MemberRoles): boolean {
  const anywhere = rule.map(({ role, course }) => ({ role, course: course && ('any' as const) }));
  return meets(anywhere, roles, () => undefined);
}

/** The roles in courses through which a member meets a rule, and in how many; undefined through one at the school. */
export function coursesMeeting(
  rule: RoleRule,
  { school, courses }: MemberRoles,
): { readonly roles: readonly string[]; readonly count: number } | undefined {
  if (rule.some(({ role, course }) => course === undefined && school.has(role))) return undefined;
  const held = [...courses.values()].map((roles) => rule.filter(({ role, course }) => course && roles.has(role)));
  const meeting = held.filter((roles) => roles.length > 0);
  return { roles: [...new Set(meeting.flat().map(({ role }) => role))], count: meeting.length };
}

/** What a refusal says that is needed. Only the names are the school's. */
export function neededRole(rule: RoleRule): string {
  const named = rule.map(({ role, course }) =>
    course === undefined ? role : `${role} of ${course === 'any' ? 'a' : 'this'} course`,
  );
  return `This needs the role ${named.join(', or ')}.`;
}
