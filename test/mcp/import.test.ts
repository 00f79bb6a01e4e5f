import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld } from '../support/world.ts';
import { call, toolNames } from './support/mcp.ts';

const API = `openapi: 3.1.0
servers: [{ url: https://school.example/api/v1/ }]
paths:
  /courses:
    get:
      operationId: listCourses
      summary: List the courses
      description: All courses that are published.
      parameters:
        - { name: search, in: query, schema: { type: [string, 'null'], minLength: 1, x-note: none } }
        - { name: per_page, in: query, schema: { $ref: '#/components/schemas/Count' } }
        - { name: X-Trace, in: header, schema: { type: string } }
    post:
      operationId: createCourse
      requestBody:
        content: { application/json: { schema: { $ref: '#/components/schemas/NewCourse' } } }
  /members/{member_id}/enrolments:
    get: { operationId: enrolments, parameters: [{ name: member_id, in: path, required: true, schema: { type: string } }] }
  /courses/{slug}:
    get: { summary: Read a course, parameters: [{ name: slug, in: path, schema: { type: string } }] }
  /secret: { get: { operationId: secret } }
components:
  schemas:
    Count: { type: integer, minimum: 1, maximum: 50 }
    NewCourse:
      type: object
      required: [title]
      properties: { title: { type: string }, id: { type: string, readOnly: true }, user_id: { type: string } }
`;

const run = promisify(execFile);
const command = (...args: string[]) =>
  run(process.execPath, ['src/main.ts', 'mcp', 'import', '--config', 'config/coursegate.yaml', ...args]);

describe('coursegate mcp import', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-import-'));
    writeFileSync(join(folder, 'api.yaml'), API);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('proposes what a route takes, with the scopes of the route, and says what it leaves out', async () => {
    const { stdout, stderr } = await command('--openapi', join(folder, 'api.yaml'));
    expect(stdout).toBe(readFileSync(new URL('support/imported.yaml', import.meta.url), 'utf8'));
    expect(stderr).toContain('left out: GET /api/v1/secret: no route takes it');
    expect(stderr).toContain('left out: POST /api/v1/courses: it may change something; --writes proposes it too');
    expect(stderr).toContain('3 tools proposed');
  });

  it('proposes tools that start and work, the writing ones when asked', async () => {
    const { stdout } = await command('--openapi', join(folder, 'api.yaml'), '--writes');
    const file = join(folder, 'tools.yaml');
    writeFileSync(file, stdout);
    expect(stdout).toMatch(/name: create_course\n.*\n.*\n.*scopes:\n\s+- courses:write\n/);
    expect(stdout).not.toMatch(/user_id|readOnly|X-Trace/);
    const world = await startWorld({ profile: 'B', overrides: { mcp: { file } } });
    expect(await toolNames(world)).toEqual([]);
    await world.close();
  });

  it('proposes from the routes, and what it proposes starts', async () => {
    const { stdout } = await command();
    const file = join(folder, 'routes.yaml');
    writeFileSync(file, stdout);
    const world = await startWorld({
      profile: 'A',
      overrides: { mcp: { file, signIn: 'on-call', resources: [], prompts: [] } },
    });
    const names = await toolNames(world);
    expect(names).toEqual(expect.arrayContaining(['list_courses', 'get_courses', 'list_orders']));
    expect((await call(world, 'list_courses')).status).toBe(401);
    await world.close();
  });

  it('says so when the file is no OpenAPI document', async () => {
    writeFileSync(join(folder, 'none.yaml'), 'hello: world');
    await expect(command('--openapi', join(folder, 'none.yaml'))).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('This is no OpenAPI 3 document'),
    });
  });
});
