import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openInterfaces } from '../../src/generation/interfaces.ts';
import { createLog } from '../../src/operations/log.ts';
import { NO_ROLES } from '../../src/roles/roles.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { memoryCounters } from '../../src/storage/memory-counters.ts';
import { load } from '../config/fixture.ts';
import { MEMBER } from './support/account.ts';
import { type MappedService, mapService } from './support/service.ts';

const SECRET = 'hunter2';
const TYPES = `scalar DateTime
type Viewer { id: ID!  email: String  courses(first: Int = 20, after: String): Courses  level: Int }
type Courses { nodes: [Course!]! edges: [Edge!]! totalCount: Int }
type Edge { cursor: String! node: Course! }
type Course { slug: String!  endsAt: DateTime  state: State  last: Lesson }
type Lesson { id: ID!  seconds: Int }
enum State { OPEN CLOSED }
`;
const MAPPING = `extend schema @source(name: "school")
extend type Viewer {
  email: String @connect(source: "school", http: { GET: "/me" }, selection: "$.email->decode('html')")
  courses: Courses
    @connect(
      source: "school"
      http: { GET: "/courses" }
      selection: """
      slug
      endsAt: ends_at->toDateTime("unix")
      state
      """
    )
    @connection(style: ALL, nodes: "$")
  level: Int @connect(source: "school", http: { GET: "/me/{$context.sub}" }, selection: "$.level")
}
extend type Course
  @connect(
    source: "school"
    batch: {}
    http: { GET: "/last", queryParams: "slugs: $batch.slug" }
    selection: """
    $ {
      slug
      last: lesson {
        id
        seconds: ms->div(1000)->floor
      }
    }
    """
  )
`;

const GATE = `version: 1
profile: A
origin: http://localhost:8080
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [s] }
store: { kind: memory }
site: { upstream: school }
upstreams: { school: { url: "http://127.0.0.1:9" } }
account: { schema: contract.graphql, mappings: map.graphql }
`;

let service: MappedService | undefined;
afterEach(() => service?.close());

async function logged(query: string, answers: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  service = await mapService(TYPES, MAPPING, ({ url }) => {
    const json = answers[url.pathname];
    return json === undefined ? { status: 200, text: SECRET } : { json };
  });
  const { text } = await service.ask(query);
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain('map.graphql');
  return service.logged();
}

const course = (more: object) => ({ '/courses': [{ slug: 'a', ...more }] });

describe('the log names the field that failed and its line in the mapping, without the member’s data', () => {
  test.each<[name: string, query: string, answers: Readonly<Record<string, unknown>>, said: string[]]>([
    [
      'a value that a method cannot use',
      '{ me: viewer { courses { nodes { until: endsAt } } } }',
      course({ ends_at: SECRET }),
      [
        'Course.endsAt (map.graphql:10, ends_at in GET /courses of school): ->toDateTime needs a date in the format unix',
      ],
    ],
    [
      'a value of a selection that is no object',
      '{ viewer { email } }',
      { '/me': { email: [SECRET] } },
      ['Viewer.email (map.graphql:3, email in GET /me of school): ->decode needs text'],
    ],
    [
      'a value outside an enum, in a fragment',
      '{ viewer { ...V } } fragment V on Viewer { courses { edges { ... { node { state } } } } }',
      course({ state: SECRET }),
      ['Course.state (map.graphql:11, state in GET /courses of school): the value is not State'],
    ],
    [
      'a missing value that is non-null',
      '{ viewer { courses { nodes { slug } } } }',
      { '/courses': [{ title: SECRET }] },
      ['Course.slug (map.graphql:9, slug in GET /courses of school): the value is null, not String!'],
    ],
    [
      'a value of another type',
      '{ viewer { level } }',
      { '/me/m-1001': { level: SECRET } },
      ['Viewer.level (map.graphql:15, level in GET /me/{$context.sub} of school): the value is not Int'],
    ],
    [
      'a value from a batch',
      '{ viewer { courses { nodes { slug last { id seconds } } } } }',
      { ...course({}), '/last': [{ slug: 'a', lesson: { id: 1, ms: SECRET } }] },
      ['Lesson.seconds (map.graphql:27, lesson.ms in GET /last of school): ->div needs a number'],
    ],
    [
      'a batch that is not a list',
      '{ viewer { courses { nodes { last { id } } } } }',
      { ...course({}), '/last': { [SECRET]: 1 } },
      ['Course.last (map.graphql:25, lesson in GET /last of school): school: the selection of a batch is not a list'],
    ],
    [
      'a page that is not a list',
      '{ viewer { courses { totalCount } } }',
      { '/courses': { [SECRET]: 1 } },
      [
        'Viewer.courses (map.graphql:5, GET /courses of school): school: a page is not a list of pageSize items, or its total is not a number',
      ],
    ],
    [
      'a response that is not JSON',
      '{ viewer { email } }',
      {},
      ['Viewer.email (map.graphql:3, email in GET /me of school): school: no JSON'],
    ],
    [
      'a mistake that fails in every row, once',
      '{ viewer { courses { nodes { slug until: endsAt again: endsAt } } } }',
      { '/courses': ['a', 'b', 'c'].map((slug) => ({ slug, ends_at: SECRET })) },
      [
        'Course.endsAt (map.graphql:10, ends_at in GET /courses of school): ->toDateTime needs a date in the format unix',
      ],
    ],
  ])('%s', async (_name, query, answers, said) => {
    expect(await logged(query, answers)).toEqual(said);
  });
});

test('the gate’s log has one line for a wrong key, with file, line and what was read, and no stack', async () => {
  const files = {
    'contract.graphql': `type Query { viewer: Viewer! } type Viewer { id: ID! courses: [Course!] }
type Course { slug: String! }`,
    'map.graphql': `extend schema @source(name: "school")
extend type Viewer { courses: [Course!]
  @connect(source: "school", http: { GET: "/me/{$context.sub}/courses" }, selection: "$.items { slug: course.uid }") }`,
  };
  const loaded = await load(GATE, { files });
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-failed-field-'));
  const log = createLog('info', openSync(join(folder, 'log'), 'a'));
  const clock = Date.now;
  const foundation = { store: memoryStore(clock), counters: memoryCounters(clock), clock, secret: '', log };
  const { account } = await openInterfaces(foundation, loaded, {
    call: async () => ({ status: 200, headers: {}, body: JSON.stringify({ items: [{ course: { slug: SECRET } }] }) }),
    rolesOf: NO_ROLES.of,
    audit: () => undefined,
  });
  const prepared = account?.prepare('{ viewer { courses { slug } } }');
  if (prepared === undefined || 'mistakes' in prepared) throw new Error('not prepared');
  const result = await prepared.run(MEMBER, {}, new AbortController().signal);
  expect(result).toMatchObject({
    errors: [{ path: ['viewer', 'courses', 0, 'slug'], extensions: { code: 'UPSTREAM_BAD_RESPONSE' } }],
  });
  const lines = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
  rmSync(folder, { recursive: true });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      msg: 'the Account API failed at Course.slug (map.graphql:3, items.course.uid in GET /me/{$context.sub}/courses of school)',
      err: {
        type: 'MappingValueError',
        message: 'the value is null, not String!',
        stack: '',
        name: 'MappingValueError',
      },
    }),
  ]);
});
