import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, toolNames } from '../mcp/support/mcp.ts';
import { type App, bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

/** Teaches knots and studies navigation. The usual member studies both. */
const TOVE = { login: 'teacher@example.com', password: 'teacher' };
const [KNOTS, NAVIGATION] = ['knots-splices-and-whippings', 'harbour-navigation'];
const ASKED = { scope: 'openid account:read students:read' };

describe('the demo’s teacher', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  it('sees who takes that course, by the route and by the tool, and no other', async () => {
    const { access_token: token } = await connect(app, { member: TOVE, parameters: ASKED });
    const at = (course: string | undefined) =>
      fetch(`${world.origin}/api/v1/teaching/${course}/students`, { headers: bearer(token) });
    expect(await (await at(KNOTS)).json()).toMatchObject({ data: [{ name: 'Sam Student' }], meta: { total: 1 } });
    expect((await at(NAVIGATION)).status).toBe(403);
    const students = await call(world, 'list_course_students', { courseSlug: KNOTS }, { token });
    expect(students.body.result.structuredContent).toMatchObject({ students: [{ name: 'Sam Student' }], total: 1 });
    const refused = await call(world, 'list_course_students', { courseSlug: NAVIGATION }, { token });
    expect(refused.body.result.content[0].text).toBe('This needs the role instructor of this course.');
    expect(await toolNames(world, { token })).toContain('list_course_students');
    const { access_token: other } = await connect(app, { parameters: ASKED });
    expect(await toolNames(world, { token: other })).not.toContain('list_course_students');
  });

  it('is known as one to the gate only', async () => {
    expect((await fetch(`${world.origin}/internal/members/m-1003/roles`)).status).toBe(404);
  });
});
