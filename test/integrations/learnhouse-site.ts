import { readFileSync } from 'node:fs';

/**
 * A running LearnHouse. `COURSEGATE_TEST_LEARNHOUSE` names a JSON file with the address of its API, an administrator, and
 * the URL of its database for the role that integrations/learnhouse/README.md creates:
 * { "url", "email", "password", "database" }.
 */
export interface LearnHouse {
  readonly url: string;
  readonly email: string;
  readonly password: string;
  readonly database: string;
}

export function learnHouse(): LearnHouse | undefined {
  const file = process.env.COURSEGATE_TEST_LEARNHOUSE;
  return file === undefined || file === '' ? undefined : JSON.parse(readFileSync(file, 'utf8'));
}

export interface LearnHouseMember {
  readonly id: number;
  readonly email: string;
  readonly password: string;
}

/** A course with the activities in it, by their numbers. */
export interface LearnHouseCourse {
  readonly uuid: string;
  readonly name: string;
  readonly activities: readonly { readonly id: number; readonly uuid: string }[];
}

/** What a test needs of a school: it only adds to what is there. */
export type School = Awaited<ReturnType<typeof createSchool>>;

type Json = Readonly<Record<string, unknown>>;

export async function createSchool({ url, email, password }: LearnHouse) {
  const run = Date.now().toString(36);
  const call = async (path: string, init: RequestInit): Promise<Json> => {
    const response = await fetch(`${url}/api/v1${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
    return (await response.json()) as Json;
  };
  const session = async (as: { email: string; password: string }): Promise<string> => {
    const body = new URLSearchParams({ username: as.email, password: as.password });
    const answer = await call('/auth/login', { method: 'POST', body });
    return (answer.tokens as { access_token: string }).access_token;
  };
  const asJson = (token: string, body?: Json, method = 'POST'): RequestInit => ({
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

  const admin = await session({ email, password });
  const { token } = (await call('/orgs/1/api-tokens', asJson(admin, { name: `coursegate ${run}` }))) as {
    token: string;
  };

  const addMember = async (name: string): Promise<LearnHouseMember> => {
    const member = { email: `${name}.${run}@example.com`, password: `Correct-horse-${run}1!` };
    const { id } = await call(
      '/admin/default/users',
      asJson(token, { ...member, username: `${name}_${run}`, first_name: name, last_name: 'O’Neill' }),
    );
    return { id: Number(id), ...member };
  };

  const addCourse = async (name: string, activities: number): Promise<LearnHouseCourse> => {
    const form = new FormData();
    for (const [key, value] of Object.entries({ name, description: name, about: name, public: 'true' }))
      form.set(key, value);
    const course = await call('/courses/?org_id=1', {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}` },
      body: form,
    });
    const uuid = String(course.course_uuid);
    await call(`/courses/${uuid}`, asJson(admin, { published: true }, 'PUT'));
    const chapter = await call('/chapters/', asJson(admin, { name: 'One', org_id: 1, course_id: course.id }));
    const added = [];
    for (let at = 0; at < activities; at += 1) {
      const activity = {
        name: `Lecture ${at}`,
        chapter_id: chapter.id,
        activity_type: 'TYPE_DYNAMIC',
        published: true,
      };
      const { id, activity_uuid } = await call(
        '/activities/',
        asJson(admin, { ...activity, activity_sub_type: 'SUBTYPE_DYNAMIC_PAGE', content: {} }),
      );
      added.push({ id: Number(id), uuid: String(activity_uuid) });
    }
    return { uuid, name, activities: added };
  };

  return {
    token,
    addMember,
    addCourse,
    enrol: (member: LearnHouseMember, course: LearnHouseCourse) =>
      call(`/admin/default/enrollments/${member.id}/${course.uuid}`, asJson(token)),
    complete: (member: LearnHouseMember, activity: { readonly uuid: string }) =>
      call(`/admin/default/progress/${member.id}/activities/${activity.uuid}/complete`, asJson(token)),
    changePassword: async (member: LearnHouseMember, to: string) =>
      call(
        `/users/change_password/${member.id}`,
        asJson(await session(member), { old_password: member.password, new_password: to }, 'PUT'),
      ),
    leave: (member: LearnHouseMember) => call(`/admin/default/users/${member.id}`, asJson(token, undefined, 'DELETE')),
  };
}
