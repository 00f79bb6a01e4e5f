import { expect, test } from 'vitest';
import { MappingError, Mistakes } from '../../src/account/connect/mistakes.ts';
import { readContract } from '../../src/account/contract.ts';
import { createAccount } from '../../src/account/endpoint.ts';
import { readFieldRoles } from '../../src/account/field-roles.ts';
import { contractFiles, LIMITS } from '../account/support/account.ts';

const mistakes = (field: string, more: { hasRoles?: boolean; mapping?: string; recorded?: string } = {}): string[] => {
  const { hasRoles = true, mapping, recorded } = more;
  try {
    createAccount({
      schema: contractFiles(`type Query { viewer: Viewer! }\ntype Viewer { id: ID!\n${field} }`),
      mappings: [
        {
          file: 'map.graphql',
          text:
            mapping ??
            `extend schema @source(name: "school")
extend type Viewer { grades: Boolean @connect(source: "school", http: { GET: "/x${field.includes('course: ID') ? '/{$args.course}' : ''}" }, selection: "$.ok") }`,
        },
      ],
      recorded: recorded === undefined ? [] : [{ upstream: 'school', file: 'recorded.graphql', text: recorded }],
      upstreams: ['school'],
      config: { open: {}, secret: {} },
      scopes: ['account:read'],
      ...(hasRoles ? { rolesOf: () => ({ school: new Set<string>(), courses: new Map() }) } : {}),
      metadataUrl: 'https://school.example/.well-known/oauth-protected-resource',
      limits: LIMITS,
      introspection: true,
      documents: undefined,
      call: () => Promise.reject(new Error('no call at start')),
      bodyLimit: 1,
      deadline: 1,
    });
    return [];
  } catch (thrown) {
    if (!(thrown instanceof MappingError)) throw thrown;
    return thrown.mistakes.map(({ line, coordinate, message }) => `${line} ${coordinate}: ${message}`);
  }
};

test.each([
  ['grades: Boolean @requiresRole(role: "admin")'],
  ['grades: Boolean @requiresRole(role: ["admin", "instructor of any course"])'],
  ['grades(course: ID!): Boolean @requiresRole(role: "instructor of {args.course}")'],
])('a field may be %s', (field) => {
  expect(mistakes(field)).toEqual([]);
});

test.each([
  ['grades: Boolean! @requiresRole(role: "admin")', 'the field must be nullable'],
  [
    'grades: Boolean @requiresRole(role: "instructor of algebra")',
    'needs roles such as admin, instructor of any course, or instructor of {args.courseId}',
  ],
  [
    'grades: Boolean @requiresRole(role: "instructor of {args.course}")',
    'needs an argument course that is required, as {args.course}',
  ],
  [
    'grades(course: ID): Boolean @requiresRole(role: "instructor of {args.course}")',
    'needs an argument course that is required, as {args.course}',
  ],
  [
    'grades(course: ID!): Boolean @requiresRole(role: "instructor of {path.course}")',
    'needs an argument course that is required, as {args.course}',
  ],
])('a field may not be %s', (field, message) => {
  expect(mistakes(field)).toContain(`3 Viewer.grades: @requiresRole: ${message}`);
});

test('a field may need no role without `roles`', () => {
  expect(mistakes('grades: Boolean @requiresRole(role: "admin")', { hasRoles: false })).toEqual([
    '3 Viewer.grades: @requiresRole: the configuration has no `roles` to ask',
  ]);
});

test('a field that comes with an object of a GraphQL upstream may need no role, and the one that requests it may', () => {
  const role = '@requiresRole(role: "admin")';
  const given = (of: string, title: string) =>
    mistakes(`course: Course ${of} }\ntype Course { title: String ${title}`, {
      mapping: `extend schema @source(name: "school", graphql: { path: "/graphql" })
extend type Viewer { course: Course @graphql(source: "school") }`,
      recorded: 'type Query { course: Course } type Course { title: String }',
    });
  expect(given(role, '')).toEqual([]);
  expect(given('', role)).toEqual([
    '4 Course.title: @requiresRole: must be at the field with @graphql, not at one that comes with its object',
  ]);
});

test.each([
  ['', 'This needs the role admin.'],
  ['"The marks of the year." ', 'The marks of the year. This needs the role admin.'],
])('the description of a field says which role it needs, after %j', (description, described) => {
  const grades = `${description}grades: Boolean @requiresRole(role: "admin")`;
  const files = contractFiles(`type Query { viewer: Viewer! }\ntype Viewer { id: ID!\n${grades} }`);
  const contract = readContract(files, new Mistakes(), undefined);
  readFieldRoles(contract, true, new Mistakes());
  expect(contract.schema.toConfig().types.find(({ name }) => name === 'Viewer')).toMatchObject({
    _fields: { grades: { description: described } },
  });
});
