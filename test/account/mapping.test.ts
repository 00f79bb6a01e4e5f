import { describe, expect, test } from 'vitest';
import {
  CONTRACT_FILE,
  contractFiles,
  EVENTS_MAPPING_FILE,
  EVENTS_SCHEMA_FILE,
  MAPPING_FILE,
  readText,
} from './support/account.ts';
import { mistakesIn } from './support/mistakes.ts';

/** A fixed contract and mapping, so that tests can state positions in them. */
const COURSES = readText('test/account/fixtures/courses.graphql');
const text = readText('test/account/fixtures/courses.map.graphql');

/** The mistakes of a contract and its mapping. */
const mistakesOf = (text: string, schemaText = COURSES, upstreams = ['school', 'progress']): string[] =>
  mistakesIn({
    schema: contractFiles(schemaText),
    mappings: [{ file: 'map.graphql', text }],
    recorded: [EVENTS_SCHEMA_FILE],
    upstreams,
    scopes: ['account:read', 'account:write'],
    config: { open: { currency: 'EUR' }, secret: {} },
  });

/** The position of a part of the mapping's text, after a change. */
function changed(from: string, to: string, at = to): { text: string; place: string } {
  expect(text).toContain(from);
  const result = text.replace(from, () => to);
  const start = text.indexOf(from);
  const after = result.indexOf(at, start);
  const before = result.slice(0, after === -1 ? result.lastIndexOf(at, start) : after);
  return {
    text: result,
    place: `map.graphql:${before.split('\n').length}:${before.length - before.lastIndexOf('\n')}`,
  };
}

test('the demo mapping has no mistakes', () => {
  const both = MAPPING_FILE.text + EVENTS_MAPPING_FILE.text;
  expect(mistakesOf(both, CONTRACT_FILE, ['school', 'progress', 'events'])).toEqual([]);
  expect(mistakesOf(text)).toEqual([]);
});

describe('a mistake in a mapping is reported with its position', () => {
  test.each<[from: string, to: string, at: string, said: string]>([
    [
      '@source(name: "progress")',
      '@source(name: "progres")',
      '"progres"',
      'the configuration has no upstream "progres", only school, progress',
    ],
    ['{ GET: "/v2/positions",', '{ GTE: "/v2", GET: "/v2/positions",', 'GTE', 'unknown field "GTE"'],
    ['batch: { maxSize: 100 }', 'batch: { maxSize: 0 }', '@connect', 'batch.maxSize must be from 1 to 1000'],
    ['slug: course.slug', 'slugg: course.slug', 'slugg', 'the selection returns "slugg"'],
    ['->eq(1)', '->equals(1)', '->equals', 'there is no method ->equals'],
    ['->eq(1)', '->eq(1, 2)', '->eq', '->eq takes 1 argument'],
    ['("unix")', '("unixx")', '->toDateTime', '->toDateTime takes one of unix, unix_ms, sql, sql_utc, iso'],
    ['->div(1000)', '->div("1000")', '->div', '->div takes a number'],
    ['->div(1000)', '->div(0)', '->div', '->div cannot divide by 0'],
    ['->div(1000)', '->decimal($.places)', '->decimal', '->decimal takes a whole number from 0 to 20'],
    ['("unix")', '("unix", "Europe/Madrid")', '->toDateTime', '->toDateTime takes a time zone with sql and iso only'],
    ['("unix")', '("sql", "Madrid")', '->toDateTime', 'takes an IANA time zone such as "Europe/Madrid"'],
    ['->eq(1)', '->decode("base64")', '->decode', '->decode takes one of html'],
    ['->eq(1)', '->eq(one)', 'one', 'begin the key of an object with $. or @.'],
    ['->eq(1)', '->eq($request.id)', '$request', 'there is no variable $request'],
    ['->eq(1)', '->match([1, 2, 3])', '->match', '->match takes pairs such as ["a", "b"]'],
    ['->eq(1)', '->maxBy("id")', '->maxBy', '->maxBy takes an expression that begins with @'],
    ['{$context.sub}"', '{$context.sub->eq($.x)}"', '$.x', 'there is no data to read here'],
    ['hasLifetimeAccess: life', '_id: id  hasLifetimeAcces: life', 'hasLifetimeAcces:', 'returns "hasLifetimeAcces"'],
    ['pageSize: 50,', 'pageSize: 50, filter: "a b",', '"a b"', '@connection: filter is an expression'],
    [
      'batch: { maxSize: 100 }',
      'batch: { maxSize: 100 }, each: "$context.sub"',
      '@connect',
      'each is only for a @connect on a field',
    ],
    [
      'selection: "$.data.email_address',
      'each: "$([1])", selection: "$.data.email_address',
      '"$([1])"',
      'http does not use $each',
    ],
    ['lifetime->eq(1)', 'lifetime->', '\n      """', 'the name of a method was expected'],
    ['$.data.email_address ??', '$.data.__proto__ ??', '__proto__', 'the name __proto__ cannot be used'],
    ['?? $context.email', '?? $context.token', '$context.token', '$context has no token, only sub, email, name'],
    ['?? $context.email', '?? $request.cookie', '$request', 'there is no variable $request'],
    ['/{$context.sub}"', '/{$args.sub}"', '$args.sub', '$args has no sub, only nothing'],
    ['/{$context.sub}"', '/{$args.id}/x"', '$args.id', '$args has no id'],
    ['/{$context.sub}"', '/{sub}"', 'sub}', 'there is no data to read here'],
    ['/{$context.sub}"', '/{$context.sub"', '{$context.sub', 'unmatched brace'],
    [
      '/{$context.sub}"',
      '/../{$context.sub}"',
      '/api/v1/members/..',
      'a path must not have empty, "." or ".." segments',
    ],
    [
      '/{$context.sub}"',
      '/%2e%2E/{$context.sub}"',
      '/api/v1/members/%2e',
      'a path must not have empty, "." or ".." segments',
    ],
    ['/{$context.sub}"', '//{$context.sub}"', '/api/v1/members//', 'a path must not have empty, "." or ".." segments'],
    ['/{$context.sub}"', '/{$context.sub}?x=1"', '?x', 'put query parameters in queryParams'],
    ['"/v2/positions"', '"v2/positions"', 'v2/positions"', 'a path must begin with /'],
    ['pageSize: 50', 'pageSize: 5', '@connection', 'pageSize must be from 10 to 1000'],
    ['page: $page.number', 'page: $(1)', '@connection', 'http does not use $page.number'],
    ['style: PAGE', 'style: LINKS', 'LINKS', 'does not exist in "ConnectionStyle" enum'],
    ['email: String\n', 'email: String!\n', 'String!', 'is String in the contract, not String!'],
    ['email: String\n', 'emails: String\n', 'emails', 'the contract has no such field'],
    ['email: String\n', 'id: ID!\n', 'id: ID!', 'comes from the access token and cannot be mapped'],
    ['extend type EnrolledCourse\n', 'extend type Course\n', 'Course\n', 'the contract has no such object type'],
    ['slug: course_slug', 'name: course_slug', 'name: course_slug', 'the selection returns "name"'],
    ['slugs: $batch.slug->joinNotNull', 'slugs: $batch->joinNotNull', '$batch->', 'add a key of $batch'],
    ['# One call', 'type X { a: Int }\n#', 'type X', 'a mapping file can only contain "extend schema", "extend type"'],
    ['extend type Viewer {', 'extend type Viewer {{', '{\n  email', 'Syntax Error'],
    [
      'batch: { maxSize: 100 }\n    http: {',
      'batch: {}\n    http: { headers: [{ name: "Authorization", value: "x" }]',
      '"Authorization"',
      'cannot set the header',
    ],
    [
      'batch: { maxSize: 100 }\n    http: {',
      'batch: {}\n    http: { headers: [{ name: "X-Real-IP", value: "x" }]',
      '"X-Real-IP"',
      'cannot set the header',
    ],
    [
      'batch: { maxSize: 100 }\n    http: {',
      'batch: {}\n    http: { headers: [{ name: "x\\r\\ny", value: "x" }]',
      '"x\\r',
      'cannot set the header',
    ],
  ])('%j → %j', (from, to, at, said) => {
    const wrong = changed(from, to, at);
    const found = mistakesOf(wrong.text);
    expect(found.join('\n')).toContain(said);
    const matching = found.find((line) => line.includes(said)) ?? '';
    expect(matching.split(' ')[0]).toBe(wrong.place);
  });
});

test('all mistakes are reported, in the order of the file', () => {
  const broken = text
    .replace('slug: course.slug', 'slugg: course.slug')
    .replace('lifetime->eq(1)', 'lifetime->equals(1)')
    .replace('{$context.sub}"', '{$args.sub}"')
    .replace('source: "progress"', 'source: "progres"');
  const found = mistakesOf(broken);
  expect(found.map((line) => line.split(' ')[0])).toEqual([
    'map.graphql:12:38',
    'map.graphql:24:7',
    'map.graphql:26:34',
    'map.graphql:35:13',
  ]);
  for (const said of ['"slugg"', '->equals', '$args has no sub', '"progres"']) expect(found.join('\n')).toContain(said);
});

describe('a mismatch between contract and mapping is reported', () => {
  const grown = (from: string, to: string) => mistakesOf(text, COURSES.replace(from, to));

  test.each([
    ['  email: String\n', '  email: String\n  phone: String\n', 'Viewer.phone: nothing provides this field'],
    [
      '  lectureId: ID!\n',
      '  lectureId: ID!\n  title: String\n',
      'LastWatchedLecture.title: nothing provides this field',
    ],
    ['  slug: String!\n', '  slug: String!\n  title: String\n', 'EnrolledCourse.title: nothing provides this field'],
    ['lastWatchedLecture: LastWatchedLecture\n', 'lastWatchedLecture: LastWatchedLecture!\n', 'must be nullable'],
    [
      'lastWatchedLecture: LastWatchedLecture\n',
      'lastWatchedLecture: String\n',
      'returns an object, but the contract has String',
    ],
    ['    after: String\n', '    after: String\n    "x" tag: String\n', 'nothing uses the argument tag'],
    ['    after: String\n', '    after: ID\n', 'arguments first: Int, after: String'],
    ['  viewer: Viewer!\n', '  me: Viewer!\n', 'the contract must have Query.viewer'],
    ['  slug: String!\n', '  slug: Slug!\n', 'Unknown type "Slug"'],
    ['type Query {', 'type Query { "x" x: Any', 'Unknown type "Any"'],
    ['type Query {', 'type Mutation { x: Int }\ntype Query {', 'Mutation.x: nothing provides this field'],
    ['scalar DateTime', 'scalar Money\nscalar DateTime', ''],
    [
      'expireDate: DateTime',
      'expireDate: Money } scalar Money type Rest { a: Int',
      'unsupported scalar; supported are DateTime',
    ],
  ])('%j → %j', (from, to, said) => {
    const found = grown(from, to);
    if (said === '') expect(found).toEqual([]);
    else expect(found.join('\n')).toContain(said);
  });

  test('for a field that is provided twice', () => {
    const twice = text.replace(
      'slug: course.slug',
      'slug: course.slug\n      lastWatchedLecture: { lectureId: id  positionSeconds: $(0) }',
    );
    expect(mistakesOf(twice).join('\n')).toContain(
      'EnrolledCourse.lastWatchedLecture: is provided both here and by the @connect on EnrolledCourse',
    );
  });

  test('for a batch that would provide the member’s ID', () => {
    const claim = `${text}\nextend type Viewer @connect(source: "school", batch: {}, http: { GET: "/who", queryParams: "e: $batch.email->joinNotNull(',')" }, selection: "$.all { email id }")`;
    expect(mistakesOf(claim).join('\n')).toContain('Viewer.id: comes from the access token and cannot be mapped');
  });
});
