import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
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
  /orders:
    get:
      operationId: listOrders
      parameters:
        - { name: page, in: query, schema: { type: integer, minimum: 1 } }
      responses: { '200': { content: { application/json: { schema: { $ref: '#/components/schemas/Orders' } } } } }
  /courses/{slug}/reviews:
    get:
      operationId: listReviews
      parameters:
        - { name: slug, in: path, required: true, schema: { type: string } }
        - { name: limit, in: query, schema: { type: integer } }
      responses: { '200': { content: { application/json: { schema: { type: array } } } } }
components:
  schemas:
    Orders:
      type: object
      properties: { orders: { type: array }, next_page: { type: integer }, has_more: { type: boolean } }
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

  it('proposes tools with the scopes of their routes, and says what it leaves out', async () => {
    const { stdout, stderr } = await command('--openapi', join(folder, 'api.yaml'));
    expect(stdout).toBe(readFileSync(new URL('support/imported.yaml', import.meta.url), 'utf8'));
    expect(stderr).toContain('left out: GET /api/v1/secret: no route matches it');
    expect(stderr).toContain('left out: POST /api/v1/courses: it may change something; --writes proposes it too');
    expect(stderr).toContain('5 tools proposed');
  });

  it('proposes tools that work, including those that write when asked', async () => {
    const { stdout } = await command('--openapi', join(folder, 'api.yaml'), '--writes');
    const file = join(folder, 'tools.yaml');
    writeFileSync(file, stdout);
    expect(stdout).toMatch(/name: create_course\n.*\n.*\n.*scopes:\n\s+- courses:write\n/);
    expect(stdout).not.toMatch(/user_id|readOnly|X-Trace/);
    const world = await startWorld({ profile: 'B', overrides: { mcp: { file } } });
    expect(await toolNames(world)).toEqual([]);
    await world.close();
  });

  it('proposes lists that can be read in parts, with the API’s pages or the gate’s cursors', async () => {
    const { stdout } = await command('--openapi', join(folder, 'api.yaml'));
    const file = join(folder, 'lists.yaml');
    const lists = stdout.split(/(?= {2}- name: )/).filter((part, at) => at === 0 || /list_(orders|reviews)/.test(part));
    writeFileSync(file, lists.join('').replace(/scopes:\n(\s+- \S+\n)+/g, 'scopes: []\n'));
    const items = Array.from({ length: 90 }, (_, at) => ({ id: at, words: 'w'.repeat(40) }));
    const school = await startRecordingUpstream(async (request, response, { whole }) => {
      await whole;
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      const page = Number(searchParams.get('page') ?? 1);
      const orders = items.slice((page - 1) * 45, page * 45);
      const paged = { orders, ...(page === 1 ? { next_page: 2, has_more: true } : { has_more: false }) };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(pathname.endsWith('/orders') ? paged : items));
    });
    const world = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: { school: { url: school.url } },
        routes: [{ match: 'GET /api/v1/**', upstream: 'school', scopes: [], anonymous: 'serve' }],
        mcp: { file, resources: [], prompts: [] },
        constants: { mcp: { largestResult: 1024 } },
      },
    });
    const walk = async (name: string, of: string, args: object, argument: string, next: string) => {
      const seen: unknown[] = [];
      for (let at: unknown, turn = 0; turn === 0 || (at !== undefined && turn < 50); turn += 1) {
        const sent = at === undefined ? args : { ...args, [argument]: at };
        const { structuredContent } = (await call(world, name, sent)).body.result;
        seen.push(...structuredContent[of]);
        at = structuredContent[next];
      }
      return seen;
    };
    try {
      expect(await walk('list_orders', 'orders', {}, 'page', 'next_page')).toEqual(items);
      expect(await walk('list_reviews', 'items', { slug: 'c-1', limit: 90 }, 'cursor', 'next')).toEqual(items);
      expect(school.requests.every(({ target }) => !target.includes('part.'))).toBe(true);
      expect(school.last().target).toBe('/api/v1/courses/c-1/reviews?limit=90');
    } finally {
      await world.close();
      await school.close();
    }
  });

  it('proposes tools from the routes, with which the gate starts', async () => {
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

  it('reports a file that is not an OpenAPI document', async () => {
    writeFileSync(join(folder, 'none.yaml'), 'hello: world');
    await expect(command('--openapi', join(folder, 'none.yaml'))).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('This is no OpenAPI 3 document'),
    });
  });
});
