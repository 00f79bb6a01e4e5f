import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askModern, call } from '../mcp/support/mcp.ts';
import { type App, authorizationRequest, bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { offeredScopes, reachConsent } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { freePort, startWorld, type World } from '../support/world.ts';
import { ROLES_KEY, type RolesSchool, rolesFrom, sam, startRolesSchool } from './roles-school.ts';

/** What the backend says of SAM in each column of the table. `editingteacher` is an instructor to the school. */
const SAID = {
  admin: { school: ['admin', 'staff'], courses: {} },
  instructor: { school: 'staff', courses: { algebra: ['editingteacher'], botany: 'student' } },
  assistant: { school: [], courses: { algebra: 'student', botany: ['assistant', 'student'] } },
  student: { courses: { algebra: 'student', botany: 'student', chess: 'student' } },
};
const COURSES = ['algebra', 'botany', 'chess'];

/** Who may do what in which course: a letter where it is allowed, a hyphen where it is refused. */
const MATRIX = `
                                                    admin  instructor  assistant  student
route   GET /v/anyone/COURSE                          abc         abc        abc      abc
route   GET /v/school/COURSE                          abc         ---        ---      ---
route   GET /v/staff/COURSE                           abc         abc        ---      ---
route   GET /v/courses/COURSE/grades                  ---         a--        ---      ---
route   POST /v/courses/COURSE/grades                 ---         a--        ---      ---
route   GET /v/courses/COURSE/notes/COURSE            ---         a--        -b-      ---
route   GET /v/courses/COURSE/members                 abc         a--        ---      ---
route   GET /v/teaching?for=COURSE                    ---         abc        ---      ---
route   GET /v/by-query?course=COURSE                 ---         a--        ---      ---
json    POST /v/by-body                               ---         a--        ---      ---
json    PUT /v/by-body/members                        abc         a--        ---      ---
form    POST /v/by-body                               ---         a--        ---      ---
form    PUT /v/by-body/members                        abc         a--        ---      ---
plugin  GET /v/plugin/anyone/COURSE                   abc         abc        abc      abc
plugin  GET /v/plugin/school/COURSE                   abc         ---        ---      ---
plugin  GET /v/plugin/courses/COURSE/grades           ---         a--        ---      ---
plugin  POST /v/plugin/courses/COURSE/grades          ---         a--        ---      ---
plugin  GET /v/plugin/courses/COURSE/members          abc         a--        ---      ---
plugin  GET /v/plugin/teaching?for=COURSE             ---         abc        ---      ---
plugin  GET /v/plugin/by-query?course=COURSE          ---         a--        ---      ---
scope   courses:read                                  abc         abc        abc      abc
scope   courses:write                                 ---         abc        ---      ---
scope   members:read                                  abc         ---        ---      ---
scope   students:read                                 abc         ---        abc      ---
consent courses:read                                  abc         abc        abc      abc
consent courses:write                                 ---         abc        ---      ---
consent members:read                                  abc         ---        ---      ---
consent students:read                                 abc         ---        abc      ---
field   anything                                      abc         abc        abc      abc
field   school                                        abc         ---        ---      ---
field   grades                                        ---         a--        ---      ---
field   members                                       abc         a--        ---      ---
field   teaching                                      ---         abc        ---      ---
field   notes                                         ---         a--        -b-      ---
change  setGrade                                      ---         a--        ---      ---
tool    read_anything                                 abc         abc        abc      abc
tool    read_school                                   abc         ---        ---      ---
tool    read_grades                                   ---         a--        ---      ---
tool    read_members                                  abc         a--        ---      ---
tool    read_teaching                                 ---         abc        ---      ---
tool    grades_by_route                               ---         a--        ---      ---
tool    grades_by_query                               ---         a--        ---      ---
tool    grade_by_body                                 ---         a--        ---      ---
tool    notes_of_assistants                           ---         a--        -b-      ---
listed  read_anything                                 abc         abc        abc      abc
listed  read_school                                   abc         ---        ---      ---
listed  read_grades                                   ---         abc        ---      ---
listed  read_members                                  abc         abc        ---      ---
listed  read_teaching                                 ---         abc        ---      ---
listed  grades_by_route                               ---         abc        ---      ---
listed  grades_by_query                               ---         abc        ---      ---
listed  grade_by_body                                 ---         abc        ---      ---
listed  notes_of_assistants                           ---         abc        abc      ---
`;

const INSTRUCTOR = 'instructor of {path.courseId}';

const routes = (base: string, more: object) =>
  [
    { match: `GET ${base}/anyone/*` },
    { match: `GET ${base}/school/*`, role: 'admin' },
    { match: `GET ${base}/staff/*`, role: ['admin', 'staff'] },
    { match: `GET|POST ${base}/courses/{courseId}/grades`, role: INSTRUCTOR },
    {
      match: `GET ${base}/courses/{first}/notes/{second}`,
      role: [`instructor of {path.first}`, 'assistant of {path.second}'],
    },
    { match: `GET ${base}/courses/{courseId}/members`, role: ['admin', INSTRUCTOR] },
    { match: `GET ${base}/teaching`, role: 'instructor of any course' },
    { match: `GET ${base}/by-query`, role: 'instructor of {query.course}' },
  ].map((route) => ({ ...route, upstream: 'legacy', scopes: [], anonymous: 'refuse', ...more }));

const SCOPES = {
  'courses:write': { role: 'instructor of any course' },
  'members:read': { role: 'admin' },
  'students:read': { role: ['admin', 'assistant of any course'] },
};
const SCOPED = ['courses:read', ...Object.keys(SCOPES)];

const BY_ARGUMENT = 'instructor of {args.course}';

const tool = (name: string, more: object) => ({
  name,
  title: name,
  description: `Test: ${name}.`,
  input: { properties: { course: { type: 'string', maxLength: 200 } }, required: ['course'] },
  scopes: ['account:read'],
  get: { upstream: 'legacy', path: '/t/{course}' },
  ...more,
});
const TOOLS = [
  tool('read_anything', {}),
  tool('read_school', { role: 'admin' }),
  tool('read_grades', { role: BY_ARGUMENT }),
  tool('read_members', { role: ['admin', BY_ARGUMENT] }),
  tool('read_teaching', { role: 'instructor of any course' }),
  tool('grades_by_route', { get: undefined, route: 'GET /v/courses/{course}/grades' }),
  tool('grades_by_query', { get: undefined, route: 'GET /v/by-query' }),
  tool('grade_by_body', { get: undefined, route: 'POST /v/by-body' }),
  tool('notes_of_assistants', { get: undefined, route: 'GET /v/courses/{course}/notes/{course}' }),
];

const ASKED = { scope: `openid account:read ${SCOPED.join(' ')}` };

const FIELDS = {
  anything: '',
  school: '@requiresRole(role: "admin")',
  grades: '@requiresRole(role: "instructor of {args.course}")',
  members: '@requiresRole(role: ["admin", "instructor of {args.course}"])',
  teaching: '@requiresRole(role: "instructor of any course")',
  notes: '@requiresRole(role: ["instructor of {args.course}", "assistant of {args.course}"])',
};
const CONTRACT = `type Query { viewer: Viewer! }
type Viewer { id: ID! ${Object.entries(FIELDS)
  .map(([name, role]) => `${name}(course: ID!): Boolean ${role}`)
  .join('\n')} }
type Mutation { setGrade(course: ID!): Boolean ${FIELDS.grades} }`;
const MAPPING = `extend schema @source(name: "legacy")
extend type Viewer { ${Object.keys(FIELDS)
  .map((name) => `${name}: Boolean @connect(source: "legacy", http: { GET: "/f/{$args.course}" }, selection: "$.ok")`)
  .join('\n')} }
extend type Mutation {
  setGrade: Boolean @connect(source: "legacy", http: { PUT: "/f/{$args.course}" }, selection: "$.ok")
}`;

let world: World;
let school: RolesSchool;
let legacy: RecordingUpstream;
let token: string;
let app: App;
let folder: string;
let decisions: number;

beforeAll(async () => {
  [school, legacy, decisions] = await Promise.all([startRolesSchool(), startRecordingUpstream(), freePort()]);
  folder = mkdtempSync(join(tmpdir(), 'coursegate-role-fields-'));
  writeFileSync(join(folder, 'contract.graphql'), CONTRACT);
  writeFileSync(join(folder, 'mapping.graphql'), MAPPING);
  const { upstreams, roles } = rolesFrom(school, { interval: '0s' });
  world = await startWorld({
    profile: 'A',
    environment: { ROLES_KEY },
    overrides: {
      upstreams: { ...upstreams, legacy: { url: legacy.url, identity: ['headers', 'assertion'] } },
      roles,
      listen: { decisions: { address: `127.0.0.1:${decisions}`, secret: { env: 'ROLES_KEY' } } },
      mcp: { tools: TOOLS, resources: [], prompts: [], file: undefined },
      scopes: SCOPES,
      account: {
        schema: join(folder, 'contract.graphql'),
        mappings: join(folder, 'mapping.graphql'),
        upstreamSchemas: undefined,
      },
      routes: [
        ...SCOPED.map((scope) => ({
          match: `GET /s/${scope}`,
          upstream: 'legacy',
          scopes: [scope],
          anonymous: 'refuse',
        })),
        ...routes('/v/plugin', { forwardedBy: 'gateway' }),
        ...routes('/v', {}),
        ...[
          { match: 'POST /v/by-body', role: 'instructor of {body.course}' },
          { match: 'PUT /v/by-body/members', role: ['admin', 'instructor of {body.course}'] },
        ].map((route) => ({ ...route, upstream: 'legacy', scopes: [], anonymous: 'refuse' })),
      ],
    },
  });
  app = await registerApp(world.origin);
  // Granted while the member is everything.
  school.records.set(sam, { school: ['admin'], courses: { algebra: ['instructor', 'assistant'] } });
  token = (await connect(app, { parameters: ASKED })).access_token;
});
afterAll(async () => {
  await world.close();
  await Promise.all([school.upstream.close(), legacy.close()]);
  rmSync(folder, { recursive: true });
});

/** Whether it is allowed. Fails for any other answer than those of an allowed and a refused request. */
type Ask = (what: string, course: string) => Promise<boolean>;

/** Asks for one field. A refusal leaves the other fields alone. */
async function graphql(query: string, name: string, course: string): Promise<boolean> {
  const before = legacy.requests.length;
  const response = await fetch(`${world.origin}/account/graphql`, {
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { course } }),
  });
  const { data, errors } = (await response.json()) as { data: Record<string, unknown>; errors?: object[] };
  const reached = legacy.requests.length - before;
  const { id, [name]: value } = (data.viewer ?? { id: sam, ...data }) as Record<string, unknown>;
  expect({ status: response.status, id }).toEqual({ status: 200, id: sam });
  if (errors === undefined) return value === true && reached === 1;
  expect({ value, reached, errors }).toMatchObject({
    value: null,
    reached: 0,
    errors: [
      {
        message: expect.stringMatching(/^This needs the role (admin|instructor)/),
        path: expect.arrayContaining([name]),
        extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE', requiredRoles: expect.any(Array) },
      },
    ],
  });
  return false;
}

async function byRoute(what: string, type?: string, body?: string): Promise<boolean> {
  const [method = '', path = ''] = what.split(' ');
  const before = legacy.requests.length;
  const fields = type === undefined || body === undefined ? {} : bodyFields(type, body);
  const headers = { ...bearer(token), ...fields };
  const answer = await rawRequest(world.origin, { path, method, headers, ...(body === undefined ? {} : { body }) });
  const reached = legacy.requests.length - before;
  if (answer.status === 200) return reached === 1 && (body === undefined || String(legacy.last().body) === body);
  expect({ status: answer.status, reached, challenge: answer.headers['www-authenticate'] }).toEqual({
    status: 403,
    reached: 0,
    challenge: undefined,
  });
  expect(JSON.parse(answer.text)).toMatchObject({
    code: 'forbidden',
    title: expect.stringMatching(/^This needs the role (admin|instructor|assistant)/),
  });
  return false;
}

const bodyFields = (type: string, body: string) => ({
  'content-type': type,
  'content-length': String(Buffer.byteLength(body)),
});

const ASK: Readonly<Record<string, Ask>> = {
  route: (what) => byRoute(what),
  json: (what, course) => byRoute(what, 'application/json', `{ "grade": 1.50, "course": "${course}" }`),
  form: (what, course) => byRoute(what, 'application/x-www-form-urlencoded', `grade=1.50&course=${course}`),
  async plugin(what) {
    const [method = '', path = ''] = what.split(' ');
    const response = await fetch(`http://127.0.0.1:${decisions}/decide/haproxy`, {
      headers: {
        ...bearer(token),
        'x-coursegate-secret': ROLES_KEY,
        'content-type': 'application/json',
        'x-original-method': method,
        'x-original-host': new URL(world.origin).host,
        'x-original-uri': path,
      },
    });
    const text = await response.text();
    if (response.status === 200) return response.headers.get('x-member-id') === sam;
    expect({ status: response.status, challenge: response.headers.get('www-authenticate') }).toEqual({
      status: 403,
      challenge: null,
    });
    expect(text).toContain('This needs the role');
    return false;
  },
  async scope(scope) {
    const before = legacy.requests.length;
    const { status, headers } = await rawRequest(world.origin, { path: `/s/${scope}`, headers: bearer(token) });
    if (status === 200) {
      expect(legacy.last().values('x-member-scope').join(' ').split(' ')).toContain(scope);
      return true;
    }
    expect({ status, reached: legacy.requests.length - before, challenge: headers['www-authenticate'] }).toEqual({
      status: 403,
      reached: 0,
      challenge: expect.stringContaining('error="insufficient_scope"'),
    });
    return false;
  },
  async consent(scope) {
    const { page } = await reachConsent((await authorizationRequest(app, ASKED)).url);
    return offeredScopes(page).includes(scope);
  },
  field: (name, course) => graphql(`query ($course: ID!) { viewer { id ${name}(course: $course) } }`, name, course),
  change: (name, course) => graphql(`mutation ($course: ID!) { ${name}(course: $course) }`, name, course),
  async tool(name, course) {
    const before = legacy.requests.length;
    const { status, body } = await call(world, name, { course }, { token });
    const reached = legacy.requests.length - before;
    expect(status).toBe(200);
    if (body.result.isError !== true) return reached === 1;
    expect({ reached, text: body.result.content[0].text }).toEqual({
      reached: 0,
      text: expect.stringMatching(/^This needs the role (admin|instructor)/),
    });
    return false;
  },
  async listed(name) {
    const { body } = await askModern(world, 'tools/list', {}, { token });
    expect(body.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    return body.result.tools.some((one: { name: string }) => one.name === name);
  },
};

describe('the matrix of roles and courses', () => {
  const [head = '', ...rows] = MATRIX.trim().split('\n');
  const columns = head.trim().split(/\s+/);

  it.each(rows)('%s', async (row) => {
    const [, kind = '', what = '', cells = ''] = /^(\w+)\s+(.*?)\s{2,}(.*)$/.exec(row) ?? [];
    const found: string[] = [];
    for (const column of columns) {
      school.records.set(sam, SAID[column as keyof typeof SAID]);
      let cell = '';
      for (const course of COURSES) {
        const allowed = await (ASK[kind] as Ask)(what.replaceAll('COURSE', course), course);
        cell += allowed ? course[0] : '-';
      }
      found.push(cell);
    }
    expect(found).toEqual(cells.trim().split(/\s+/));
  });
});

describe('while roles cannot be read', () => {
  let plain: string;
  beforeAll(async () => {
    school.records.set(sam, { courses: { algebra: 'instructor' } });
    plain = (await connect(app, { parameters: { scope: 'openid account:read' } })).access_token;
    school.upstream.script((_, response) => void response.writeHead(500).end());
  });

  it.each(['route', 'body', 'plugin', 'field', 'tool', 'any request with a scope that needs a role'])(
    '%s is closed',
    async (kind) => {
      const before = legacy.requests.length;
      const fields = { ...bearer(kind.startsWith('any') ? token : plain), 'content-type': 'application/json' };
      const at = (path: string, body?: object) =>
        fetch(`${world.origin}${path}`, {
          headers: { ...fields, accept: 'application/json, text/event-stream' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
      const asked: Record<string, () => Promise<Response>> = {
        route: () => at('/v/courses/algebra/grades'),
        body: () => at('/v/by-body', { course: 'algebra' }),
        plugin: () =>
          fetch(`http://127.0.0.1:${decisions}/decide/haproxy`, {
            headers: {
              ...fields,
              'x-coursegate-secret': ROLES_KEY,
              'x-original-method': 'GET',
              'x-original-host': new URL(world.origin).host,
              'x-original-uri': '/v/plugin/courses/algebra/grades',
            },
          }),
        field: () => at('/account/graphql', { query: '{ viewer { id grades(course: "algebra") } }' }),
        tool: async () => {
          const { body } = await call(world, 'read_grades', { course: 'algebra' }, { token: plain });
          return Response.json(body.result.content[0].text.replace(/ \(request.*/, ''));
        },
      };
      const response = await (asked[kind] ?? (() => at('/v/anyone/algebra')))();
      const text = await response.text();
      expect({ reached: legacy.requests.length - before, challenge: response.headers.get('www-authenticate') }).toEqual(
        {
          reached: 0,
          challenge: null,
        },
      );
      if (kind === 'field') {
        expect(JSON.parse(text)).toMatchObject({
          data: { viewer: { id: sam, grades: null } },
          errors: [{ path: ['viewer', 'grades'], extensions: { code: 'UPSTREAM_UNAVAILABLE' } }],
        });
      } else {
        expect(response.status).toBe(kind === 'tool' ? 200 : 503);
        expect(text).toContain('The roles of members cannot be read right now.');
      }
    },
  );
});
