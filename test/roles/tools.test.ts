import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { askModern, call, tokenOf } from '../mcp/support/mcp.ts';
import { bearer } from '../support/app.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { ROLES_KEY, type RolesSchool, rolesFrom, sam, startRolesSchool } from './roles-school.ts';

let world: World;
let school: RolesSchool;
let legacy: RecordingUpstream;
let token: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-role-tools-'));
  [school, legacy] = await Promise.all([startRolesSchool(), startRecordingUpstream()]);
  const { upstreams, roles } = rolesFrom(school, { interval: '0s' });
  world = await startWorld({
    profile: 'A',
    environment: { ROLES_KEY },
    log: createLog('info', openSync(join(folder, 'log'), 'w')),
    overrides: {
      upstreams: { ...upstreams, legacy: { url: legacy.url } },
      roles,
      routes: [
        {
          match: 'PUT /v/{courseId}/grades',
          upstream: 'legacy',
          scopes: ['account:read'],
          role: 'instructor of {path.courseId}',
          anonymous: 'refuse',
        },
      ],
      mcp: {
        file: undefined,
        signIn: 'on-call',
        prompts: [],
        resources: [
          { uri: 'grades://{course}', name: 'grades', title: 'Grades', tool: 'read_grades' },
          { uri: 'about://school', name: 'about', title: 'About', tool: 'about_school' },
        ],
        tools: [
          {
            name: 'about_school',
            title: 'About',
            description: 'About the school.',
            get: { upstream: 'legacy', path: '/about' },
          },
          {
            name: 'read_grades',
            title: 'Read grades',
            description: 'Reads the grades of a course.',
            input: { properties: { course: { type: ['string', 'integer'] } }, required: ['course'] },
            scopes: ['account:read'],
            role: 'instructor of {args.course}',
            get: { upstream: 'legacy', path: '/t/{course}' },
          },
          {
            name: 'set_grade',
            title: 'Set a grade',
            description: 'Sets a grade.',
            input: { properties: { course: { type: 'string' }, grade: { type: 'string' } }, required: ['course'] },
            scopes: ['account:read'],
            route: 'PUT /v/{course}/grades',
          },
        ],
      },
    },
  });
  token = await tokenOf(world);
});
afterAll(async () => {
  await world.close();
  await Promise.all([school.upstream.close(), legacy.close()]);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  school.recover();
  school.records.clear();
  school.records.set(sam, { courses: { algebra: 'instructor', '7': 'instructor' } });
});

const reached = async (work: () => Promise<unknown>) => {
  const before = legacy.requests.length;
  await work();
  return legacy.requests.length - before;
};
const audited = () =>
  readFileSync(join(folder, 'log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('tool_called'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map((line) => [line['event.outcome'], line['event.reason']]);
const names = async (method: string, key: string, of?: string) =>
  (await askModern(world, method, {}, of === undefined ? {} : { token: of })).body.result[key].map(
    (one: { name: string }) => one.name,
  );

describe('a tool that needs a role', () => {
  it('takes the course as a text or a number', async () => {
    for (const course of ['algebra', 7, '7'])
      expect((await call(world, 'read_grades', { course }, { token })).body.result.isError, `${course}`).not.toBe(true);
  });

  it('says what is needed to a member without it, calls nothing, and is audited as refused', async () => {
    const before = audited().length;
    const calls = await reached(async () => {
      for (const [name, course] of [
        ['read_grades', 'botany'],
        ['set_grade', 'botany'],
      ] as const) {
        const { body } = await call(world, name, { course }, { token });
        expect(body.result).toMatchObject({
          isError: true,
          content: [{ type: 'text', text: 'This needs the role instructor of this course.' }],
        });
      }
    });
    expect(calls).toBe(0);
    const lines = audited().slice(before);
    expect(lines).toEqual([
      ['failure', 'role'],
      ['failure', 'role'],
    ]);
  });

  it('cannot be repeated with the key of a refused call for another answer', async () => {
    const ask = (course: string) =>
      call(world, 'set_grade', { course, grade: 'A', idempotencyKey: 'a-key-of-the-test' }, { token });
    expect((await ask('botany')).body.result.isError).toBe(true);
    school.records.set(sam, { courses: { botany: 'instructor' } });
    expect((await ask('botany')).body.result.isError).not.toBe(true);
  });

  it('is not listed to a member who has it nowhere, nor are its resources', async () => {
    expect(await names('tools/list', 'tools', token)).toEqual(['about_school', 'read_grades', 'set_grade']);
    expect(await names('resources/templates/list', 'resourceTemplates', token)).toEqual(['grades']);
    school.records.set(sam, { courses: { algebra: 'student' } });
    expect(await names('tools/list', 'tools', token)).toEqual(['about_school']);
    expect(await names('resources/templates/list', 'resourceTemplates', token)).toEqual([]);
    expect(await names('resources/list', 'resources', token)).toContain('about');
  });

  it('is listed without a token where sign-in is asked for on the call', async () => {
    expect(await names('tools/list', 'tools')).toEqual(['about_school', 'read_grades', 'set_grade']);
    expect((await call(world, 'read_grades', { course: 'algebra' })).status).toBe(401);
  });

  it('fails without a call, and no list is given, while the roles cannot be read', async () => {
    school.upstream.script((_, response) => void response.writeHead(500).end());
    const calls = await reached(async () => {
      for (const name of ['read_grades', 'set_grade']) {
        const { body } = await call(world, name, { course: 'algebra' }, { token });
        expect(body.result).toMatchObject({
          isError: true,
          content: [{ text: expect.stringMatching(/^The roles of members cannot be read right now\. \(request /) }],
        });
      }
    });
    expect(calls).toBe(0);
    const list = await fetch(`${world.origin}/mcp`, {
      method: 'POST',
      headers: {
        ...bearer(token),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-06-18',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
    });
    expect({ status: list.status, challenge: list.headers.get('www-authenticate') }).toEqual({
      status: 503,
      challenge: null,
    });
    expect((await call(world, 'about_school', {}, { token })).body.result.isError).not.toBe(true);
  });
});
