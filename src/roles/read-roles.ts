import { parseBoundedJson } from '../http/bounded-json.ts';
import { isObject } from '../http/json-object.ts';
import { valueIn } from '../login/whoami/json-answer.ts';
import { unusable } from '../login/whoami/unusable.ts';
import type { MemberRoles } from '../oauth/member-roles.ts';
import type { RolesConfig } from './settings.ts';
import { LONGEST_ROLE } from './settings-rule.ts';

/** Bytes of an answer, and entries of a member in it. A school whose members have more has to ask for fewer courses. */
const LARGEST_ANSWER = 64 * 1024;
const MOST_COURSES = 5000;
const LONGEST_COURSE = 200;
const BOUNDS = { depth: 16, values: 4 * MOST_COURSES, names: MOST_COURSES + 100 };

type Where = Pick<RolesConfig, 'school' | 'courses' | 'course' | 'role' | 'names'>;

/** Parses an answer. Throws GatewayError `login_unavailable` if it is not JSON, or is more than the bounds. */
export function parseRoles(body: string): unknown {
  if (Buffer.byteLength(body) > LARGEST_ANSWER) throw unusable(`more than ${LARGEST_ANSWER} bytes`);
  try {
    return parseBoundedJson(body, BOUNDS);
  } catch {
    // The parser's message would quote the answer in the log.
    throw unusable('roles that are no JSON, or too many');
  }
}

/**
 * Reads the roles in a parsed answer. Without a value at a pointer there are none. Throws GatewayError `login_unavailable` for
 * anything else than roles, and for more than the bounds: a part of them would be taken for all.
 */
export function readRoles(document: unknown, { school, courses, course, role, names }: Where): MemberRoles {
  const rolesIn = (value: unknown) =>
    new Set(textsIn(value).map((name) => (Object.hasOwn(names, name) ? (names[name] as string) : name)));
  const found = new Map<string, Set<string>>();
  for (const [id, value] of entriesIn(courses === undefined ? undefined : valueIn(document, courses), course, role)) {
    const roles = rolesIn(value);
    if (roles.size > 0) found.set(id, new Set([...roles, ...(found.get(id) ?? [])]));
  }
  return { school: rolesIn(school === undefined ? undefined : valueIn(document, school)), courses: found };
}

/** The courses and their roles: of an object by course id, or of a list of objects. */
function entriesIn(value: unknown, course: string, role: string): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return [];
  const entries = Array.isArray(value)
    ? value.map((entry) => [valueIn(entry, course), valueIn(entry, role)] as const)
    : isObject(value)
      ? Object.entries(value)
      : undefined;
  if (entries === undefined) throw unusable('neither an object nor a list for the courses');
  if (entries.length > MOST_COURSES) throw unusable(`more than ${MOST_COURSES} courses`);
  return entries.map(([id, roles]) => [courseId(id), roles] as const);
}

function courseId(value: unknown): string {
  const id = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_COURSE) throw unusable('no usable id of a course');
  return id;
}

function textsIn(value: unknown): readonly string[] {
  const texts: readonly unknown[] = value === undefined || value === null ? [] : [value].flat();
  for (const text of texts) {
    if (typeof text !== 'string' || text === '' || text.length > LONGEST_ROLE) throw unusable('no usable role');
  }
  return texts as readonly string[];
}
