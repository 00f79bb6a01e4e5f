import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readAccount } from '../../../src/operator/connect/account-reading.ts';
import { readCourses } from '../../../src/operator/connect/courses.ts';
import { transport } from '../../../src/operator/connect/oauth/transport.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';

type Answer = readonly [status: number, body: object | string];

/** A site that gives these answers, one after another. */
let site: RecordingUpstream;
let answers: Answer[];
beforeAll(async () => {
  site = await startRecordingUpstream(async (_request, response, { whole }) => {
    await whole;
    const [status, body] = answers.shift() ?? [500, 'asked once more than expected'];
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json' });
    response.end(isText ? body : JSON.stringify(body));
  });
});
afterAll(() => site.close());
let before: number;
beforeEach(() => {
  before = site.requests.length;
});

const requests = () => site.requests.slice(before);
const asked = () => requests().map(({ body }) => (JSON.parse(body.toString()) as { query: string }).query);

const type = (kind: string, name: string | null, ofType: object | null = null) => ({ kind, name, ofType });
const field = (name: string, of: object, args: object[] = []) => ({ name, type: of, args });
const ID = type('NON_NULL', null, type('SCALAR', 'ID'));
const TEXT = type('SCALAR', 'String');
const FIRST = { name: 'first', defaultValue: null, type: { kind: 'SCALAR' } };

const schemaOf = (viewer: readonly object[], more: readonly object[] = []): Answer => [
  200,
  {
    data: {
      __schema: {
        queryType: { name: 'Root' },
        types: [
          { name: 'Root', fields: [field('viewer', type('OBJECT', 'Person')), field('greeting', TEXT)] },
          { name: 'Person', fields: viewer },
          { name: 'String', fields: null },
          ...more,
        ],
      },
    },
  },
];
const REFUSED: Answer = [200, { errors: [{ message: 'Introspection is off.' }] }];

describe('the Account API', () => {
  const read = (given: Answer[], every = false) => {
    answers = given;
    return readAccount(new URL('/account/graphql', site.url), 'token', transport(site.url), every);
  };
  const COURSES = [field('id', ID), field('badge', TEXT), field('enrolledCourses', type('OBJECT', 'Courses'), [FIRST])];
  const LISTS = [
    {
      name: 'Courses',
      fields: [
        field('edges', type('LIST', null, type('OBJECT', 'Edge'))),
        field('nodes', type('LIST', null, type('OBJECT', 'Course'))),
      ],
    },
    { name: 'Edge', fields: [field('cursor', TEXT)] },
    {
      name: 'Course',
      fields: [
        field('slug', TEXT),
        field('pages', TEXT, [FIRST]),
        field('price', TEXT, [{ name: 'currency', defaultValue: null, type: { kind: 'NON_NULL' } }]),
        field('level', TEXT, [{ name: 'scale', defaultValue: '"A1"', type: { kind: 'NON_NULL' } }]),
      ],
    },
  ];

  it('is asked for what its schema has of the contract', async () => {
    const data = { viewer: { id: '7', enrolledCourses: { nodes: [{ slug: 'a' }] } } };
    expect(await read([schemaOf(COURSES, LISTS), [200, { data }]])).toEqual({
      ...data,
      others: ['badge'],
      problem: undefined,
    });
    expect(asked()).toEqual([
      expect.stringContaining('__schema'),
      '{viewer{id enrolledCourses(first:50){nodes{slug}}}}',
    ]);
  });

  it('is asked for every field without a needed argument, and for one element of each list', async () => {
    await read([schemaOf(COURSES, LISTS), [200, { data: { viewer: { id: '7' } } }]], true);
    expect(asked()[1]).toBe('{viewer{id badge enrolledCourses(first:1){nodes{slug pages(first:1) level}}} greeting}');
  });

  it('is asked for six levels at most', async () => {
    const endless = [{ name: 'Node', fields: [field('next', type('OBJECT', 'Node')), field('id', ID)] }];
    const viewer = [field('id', ID), field('node', type('OBJECT', 'Node'))];
    await read([schemaOf(viewer, endless), [200, { data: { viewer: { id: '7' } } }]], true);
    expect(asked()[1]).toBe('{viewer{id node{next{next{next{id} id} id} id}} greeting}');
  });

  it('is asked for the query of the contract without introspection, and then for the ID alone', async () => {
    const failed: Answer = [400, { errors: [{ message: 'Cannot query field "email".' }] }];
    expect(await read([REFUSED, failed, [200, { data: { viewer: { id: '7' } } }]])).toEqual({
      viewer: { id: '7' },
      others: [],
      problem: undefined,
    });
    expect(asked().slice(1)).toEqual([expect.stringMatching(/^query\(\$n:Int\)\{viewer\{id email/), '{viewer{id}}']);
    expect(JSON.parse(String(requests()[1]?.body))).toMatchObject({ variables: { n: 50 } });
  });

  it('is asked for the ID alone after the fields of its schema gave no member, and what was wrong is kept', async () => {
    const errors = [
      { message: 'no course', path: ['viewer', 'enrolledCourses', 'nodes', 0, 'slug'] },
      { message: 'too slow' },
      { path: ['viewer'] },
      { message: 'third' },
      { message: 'fourth' },
    ];
    const found = await read([
      schemaOf(COURSES, LISTS),
      [200, { data: { viewer: null }, errors }],
      [200, { data: { viewer: { id: '7' } }, errors: [{ message: 'later' }] }],
    ]);
    expect(found?.problem).toBe('viewer.enrolledCourses.nodes.slug: no course; too slow; third');
    expect(asked()[2]).toBe('{viewer{id}}');
  });

  it('is not there when it answers 404', async () => {
    expect(await read([[404, { errors: [] }]])).toBeUndefined();
  });

  it.each<[string, Answer[], string]>([
    ['a failure', [[503, { data: {} }]], 'The Account API answered 503.'],
    ['an answer of another kind', [[200, { hello: 'world' }]], 'The Account API answered 200.'],
    ['HTML', [[200, '<h1>School</h1>']], 'The Account API answered 200.'],
    [
      'no member in any answer',
      [REFUSED, [200, { data: { viewer: null } }], [200, { errors: [{ message: 'No member.' }] }]],
      'The Account API returned no member: No member.',
    ],
    [
      'no member and no reason',
      [REFUSED, [200, { data: {} }], [200, { data: {} }]],
      'The Account API returned no member.',
    ],
  ])('is of no use with %s', async (_title, given, message) => {
    await expect(read(given)).rejects.toMatchObject({ message });
  });
});

describe('the courses of a member', () => {
  const read = (given: Answer[], scope?: string) => {
    answers = given;
    return readCourses(site.url, 'token', scope, transport(site.url));
  };
  const REST: Answer = [200, { courses: [{ slug: 'a', lifetime: true }, { title: { rendered: 'B' } }], total: 9 }];

  it('come from the Account API, with the number of all of them', async () => {
    const nodes = [
      { slug: 'a', expireDate: '2027-03-01T00:00:00Z', lastWatchedLecture: { lectureId: 3, positionSeconds: 61 } },
      { slug: 'b', hasLifetimeAccess: true, lastWatchedLecture: null },
      { id: 12, expireDate: 0 },
    ];
    const viewer = { id: 7, email: 'sam@school.example', enrolledCourses: { totalCount: 60, nodes } };
    expect(await read([[200, { data: { viewer } }]], 'account:read courses:read')).toEqual({
      source: 'Account API',
      member: { id: '7', email: 'sam@school.example' },
      total: 60,
      courses: [
        {
          slug: 'a',
          access: { kind: 'until', date: new Date('2027-03-01T00:00:00Z') },
          watched: { kind: 'at', lecture: '3', seconds: 61 },
        },
        { slug: 'b', access: { kind: 'lifetime' }, watched: { kind: 'none' } },
        { slug: '12', access: { kind: 'unknown' }, watched: { kind: 'unknown' } },
      ],
    });
  });

  it.each<[string, Answer[], string | undefined, string[]]>([
    ['there is no Account API', [[404, {}], REST], undefined, ['/account/graphql', '/api/v1/courses']],
    ['the token is for courses alone', [REST], 'openid courses:read', ['/api/v1/courses']],
  ])('come from the REST API when %s', async (_title, given, scope, urls) => {
    expect(await read(given, scope)).toEqual({
      source: 'REST API',
      member: undefined,
      total: 9,
      courses: [
        { slug: 'a', access: { kind: 'lifetime' }, watched: { kind: 'unknown' } },
        { slug: 'B', access: { kind: 'unknown' }, watched: { kind: 'unknown' } },
      ],
    });
    expect(requests().map(({ target }) => target)).toEqual(urls);
  });

  it.each<[string, Answer[], string | undefined, string]>([
    [
      'the reason of the Account API',
      [[400, { errors: [{ message: 'Unknown field' }] }]],
      'account:read',
      'The Account API returned no data: Unknown field.',
    ],
    ['no reason', [[200, { data: {} }]], 'account:read', 'The Account API returned no data.'],
    ['the status of a failure', [[502, {}]], undefined, '/account/graphql answered 502 without usable data.'],
    ['HTML', [[200, '<h1>School</h1>']], 'courses:read', '/api/v1/courses answered 200 without usable data.'],
  ])('are not there: %s', async (_title, given, scope, message) => {
    await expect(read(given, scope)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });
});
