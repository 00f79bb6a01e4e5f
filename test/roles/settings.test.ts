import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from '../config/fixture.ts';

const ROLES = 'roles: { upstream: school, path: "/roles/{member.id}", school: /roles, courses: /courses }\n';
const route = (match: string, role: string, more = '', roles = ROLES) =>
  `${SMALL}anonymous: refuse\n${roles}routes:\n  - { match: "${match}", upstream: school, role: ${role}${more} }\n`;

describe('a role in the configuration', () => {
  it.each([
    ['GET /a', 'admin'],
    ['GET /a', '[admin, staff]'],
    ['GET /a', 'instructor of any course'],
    ['GET /a/{id}/b', '"instructor of {path.id}"'],
    ['GET|POST /a/{id}/b/{other}/**', '["instructor of {path.other}", "x of {path.id}", admin]'],
    ['GET /a', '"instructor of {query.course}"'],
    ['POST|PUT|PATCH /a', '"instructor of {body.course}"'],
    ['GET /a', 'курсовод of any course'],
  ])('for %s can be %s', async (match, role) => {
    expect((await load(route(match, role))).config.routes).toHaveLength(1);
  });

  it.each([
    ['GET /a', 'admin', '', '', 'needs `roles`, which says where the gate asks for the roles of a member'],
    ['GET /a/*', '"instructor of {path.ids}"', '', ROLES, 'needs a segment {ids} in `match`'],
    ['GET /a/*', '"instructor of {path.id}"', '', ROLES, 'needs a segment {id} in `match`'],
    [
      'POST /a',
      '"instructor of {query.id}"',
      '',
      ROLES,
      'can be {query.NAME} for GET only: in other requests, a body could say another course',
    ],
    [
      '* /a',
      '"instructor of {query.id}"',
      '',
      ROLES,
      'can be {query.NAME} for GET only: in other requests, a body could say another course',
    ],
    [
      'GET /a',
      '"instructor of {args.id}"',
      '',
      ROLES,
      'must be {path.NAME}, {query.NAME} or {body.NAME}: a route has no arguments',
    ],
    ...['GET', 'DELETE', '*', 'POST|DELETE'].map((methods): [string, string, string, string, string] => [
      `${methods} /a`,
      '"instructor of {body.id}"',
      '',
      ROLES,
      'can be {body.NAME} for POST, PUT and PATCH only: servers disagree on bodies of other requests',
    ]),
    [
      'GET /a',
      '"instructor of {header.id}"',
      '',
      ROLES,
      'must be a role such as admin, instructor of any course, or instructor of {path.courseId}',
    ],
    [
      'GET /a',
      '"instructor of algebra"',
      '',
      ROLES,
      'must be a role such as admin, instructor of any course, or instructor of {path.courseId}',
    ],
    ['GET /a', '[]', '', ROLES, 'must not be empty'],
    [
      'GET /a',
      'admin',
      ', anonymous: serve',
      ROLES,
      'needs a member, but this route serves requests without a token: set `anonymous: refuse`',
    ],
    [
      'GET /a',
      'admin',
      '',
      ROLES.replace('school: /roles, ', ''),
      'needs `roles.school`, which says where the answer has such roles',
    ],
    [
      'GET /a',
      'x of any course',
      '',
      ROLES.replace(', courses: /courses', ''),
      'needs `roles.courses`, which says where the answer has such roles',
    ],
  ])('for %s cannot be %s%s', async (match, role, more, roles, message) => {
    const line = roles === '' ? 16 : 17;
    const column = `  - { match: "${match}", upstream: school, role: `.length + 1;
    expect(await mistakes(route(match, role, more, roles))).toEqual([
      `gate.yaml:${line}:${column}  routes[0].role: ${message}`,
    ]);
  });

  it('cannot look into a body that a gateway forwards, which coursegate does not see', async () => {
    const forwarded = route('POST /a', '"instructor of {body.id}"', ', forwardedBy: gateway');
    const listen = 'listen: { decisions: { address: "unix:/run/decisions.sock" } }\n';
    expect(await mistakes(forwarded + listen)).toEqual([
      'gate.yaml:17:49  routes[0].role: can be {body.NAME} only where coursegate forwards the requests: a gateway does not show it their bodies',
    ]);
  });

  it('must be the one that looks at a named segment', async () => {
    expect(await mistakes(route('GET /a/{id}/{member_id}', '"instructor of {path.id}"'))).toEqual([
      'gate.yaml:17:14  routes[0].match: there is no "{member_id}" (did you mean "{member.id}"?)',
    ]);
  });
});

describe('roles', () => {
  it.each([
    [
      ROLES.replace('upstream: school', 'upstream: scool'),
      'gate.yaml:15:20  roles.upstream: there is no upstream "scool" (did you mean "school"?)',
    ],
    [
      ROLES.replace(', school: /roles, courses: /courses', ''),
      'gate.yaml:15:8  roles: must have school, courses or both: where the answer has the roles',
    ],
    [
      ROLES.replace('/roles/{member.id}', '/roles'),
      'gate.yaml:15:34  roles.path: must contain {member.id}, where the id of the member goes',
    ],
    [
      ROLES.replace('school: /roles', 'school: roles'),
      'gate.yaml:15:64  roles.school: must be a JSON pointer such as /token',
    ],
  ])('case %#', async (roles, line) => {
    expect(await mistakes(`${SMALL}anonymous: refuse\n${roles}`)).toEqual([line]);
  });
});

describe('a role of a tool', () => {
  const tool = (role: string, more = 'scopes: [openid]') => `${SMALL}anonymous: refuse
${ROLES}mcp:
  tools:
    - name: read
      title: Read
      description: Reads.
      input: { properties: { course: { type: string }, page: { type: string } }, required: [course] }
      get: { upstream: school, path: "/x/{course}" }
      ${more}
      role: ${role}
`;

  it.each(['admin', 'instructor of any course', '"instructor of {args.course}"'])('can be %s', async (role) => {
    expect((await load(tool(role))).config.mcp?.tools).toHaveLength(1);
  });

  it.each([
    ['"instructor of {args.page}"', undefined, 'needs an input "page": name it in input.required'],
    ['"instructor of {args.id}"', undefined, 'needs an input "id": name it in input.required'],
    [
      '"instructor of {path.course}"',
      undefined,
      'must be {args.NAME}: a tool has neither a path nor a query nor a body',
    ],
    ['admin', 'scopes: []', 'needs a member: name the scopes of the tool, too'],
  ])('cannot be %s', async (role, more, message) => {
    expect(await mistakes(tool(role, more))).toEqual([`gate.yaml:24:13  mcp.tools[0].role: ${message}`]);
  });
});

describe('a role of a scope', () => {
  const scope = (role: string) => `${SMALL}anonymous: refuse
${ROLES}scopes:
  courses:write: { role: ${role} }
`;

  it.each(['admin', 'instructor of any course', '[admin, instructor of any course]'])('can be %s', async (role) => {
    expect((await load(scope(role))).config.scopes['courses:write']).toMatchObject({ kind: 'write' });
  });

  it.each(['path', 'query', 'args', 'body'])('cannot look for the course in the %s', async (where) => {
    expect(await mistakes(scope(`"instructor of {${where}.id}"`))).toEqual([
      'gate.yaml:17:26  scopes["courses:write"].role: must be a role at the school or of any course: a scope is for requests to many courses',
    ]);
  });
});
