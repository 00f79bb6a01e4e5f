import { buildSchema, type GraphQLSchema, graphqlSync } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { LIMITS } from './support/account.ts';
import { type Got, type RemoteService, remoteOptions, startRemote, UPSTREAM_SCHEMA } from './support/events.ts';

const SCHEMA: GraphQLSchema = buildSchema(UPSTREAM_SCHEMA);
let service: RemoteService | undefined;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

/** A working upstream with broken parts: a resolver of a person throws. */
function answers(broken: Readonly<Record<string, unknown>> = {}, rootBroken: object = {}) {
  const place = (id: number) => ({
    id,
    label: `Place ${id}`,
    state: 'OLD_ON',
    opened: '2026-01-02T03:04:05.678+01:00',
    town: { name: 'Westhaven' },
  });
  const person = (id: string) => ({
    id,
    nickname: 'Sal',
    badge: 7,
    secret: 's3cret',
    places: ({ take, state }: { take?: number; state?: string }) => {
      return state === 'OLD_OFF' ? [] : Array.from({ length: take ?? 999 }, (_, at) => place(at));
    },
    ...broken,
  });
  const rootValue = {
    people: ({ ids }: { ids: readonly string[] }) => ids.map((id) => (id === 'm-1001' ? person(id) : null)),
    me: () => person('m-1001'),
    total: 3,
    greeting: ({ to }: { to?: string }) => `Hello ${to}`,
    drop: () => ({ left: 2 }),
    ...rootBroken,
  };
  return ({ query, variables }: Got) => {
    return { json: graphqlSync({ schema: SCHEMA, source: query, rootValue, variableValues: variables }) };
  };
}

const failing = () => {
  throw new Error('db-7.internal refused, password hunter2');
};

const errorsOf = (errors: readonly { path: unknown; extensions: { code: string } }[] | undefined) =>
  (errors ?? []).map(({ path, extensions }) => [path, extensions.code]);

describe('a query to a GraphQL upstream', () => {
  test('contains sibling fields of one source, with non-null fields in separate queries', async () => {
    service = await startRemote(answers());
    const { body } = await service.account.ask(
      '{ a: viewer { nickname places { id } } b: viewer { n: nickname badge total } viewer { me } }',
    );
    expect(body).toEqual({
      data: {
        a: { nickname: 'Sal', places: [{ id: '0' }, { id: '1' }, { id: '2' }] },
        b: { n: 'Sal', badge: 7, total: 3 },
        viewer: { me: 7 },
      },
    });
    const queries = service.got.map(({ query }) => query).sort();
    expect(queries).toEqual([
      'query AccountApi { b4: total }',
      'query AccountApi { r0: me { b5: badge } }',
      'query AccountApi($r0_member: [ID!]!, $b1_0: Int, $r1_member: [ID!]!) { r0: people(ids: $r0_member) { b0: nickname b1: places(take: $b1_0) { f1: id } b2: nickname } r1: people(ids: $r1_member) { b3: badge } }',
    ]);
  });

  test('is about the member of the token, without the client’s header fields', async () => {
    service = await startRemote(answers());
    const query =
      'query ($r0_member: ID = "m-2002", $ids: [ID!] = ["m-2002"], $to: String) { greeting(to: $to) viewer { nickname } }';
    const rejected = await service.account.ask(query, { to: 'x' });
    expect(rejected.body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    const headers = { authorization: 'Bearer abc', cookie: 'a=b', 'x-member-id': 'm-2002', 'x-tenant': 'other' };
    const { body } = await service.account.ask('{ viewer { nickname } }', undefined, headers);
    expect(body).toEqual({ data: { viewer: { nickname: 'Sal' } } });
    expect(service.got).toHaveLength(1);
    expect(service.got[0]?.variables).toEqual({ r0_member: ['m-1001'] });
    expect(service.got[0]?.headers).toMatchObject({ 'x-member-id': 'm-1001', 'x-tenant': 'harbour' });
    expect(service.got[0]?.headers).not.toHaveProperty('authorization');
    expect(service.got[0]?.headers).not.toHaveProperty('cookie');
  });

  test('contains only the requested fields, without the client’s names or unused variables', async () => {
    service = await startRemote(answers());
    await service.account.ask(
      `query Mine($on: Boolean!, $state: Condition = ON, $n: Int) { viewer { __top: places(first: $n, state: $state) {
        ...Part __isPlace: __typename town @include(if: $on) { name } } email } } fragment Part on Place { mine: label ... { mine: label } }`,
      { on: false, extra: 1 },
    );
    expect(service.got.map(({ query, variables }) => [query, variables])).toEqual([
      [
        'query AccountApi($b0_0: Int, $b0_1: State, $r0_member: [ID!]!) { r0: people(ids: $r0_member) { b0: places(take: $b0_0, state: $b0_1) { f1: label } } }',
        { b0_0: 3, b0_1: 'OLD_ON', r0_member: ['m-1001'] },
      ],
    ]);
  });

  test('is sent even if no field is needed, because the object may be null', async () => {
    service = await startRemote(answers());
    const { body } = await service.account.ask('{ viewer { places(first: 1) { __typename } } }');
    expect(body).toEqual({ data: { viewer: { places: [{ __typename: 'Place' }] } } });
    expect(service.got[0]?.query).toContain('{ __typename }');
  });

  test('leaves out fields that the token’s scopes do not cover, at any depth', async () => {
    service = await startRemote(answers());
    const query = '{ viewer { nickname hidden places(first: 1) { id town { name } } } }';
    const { body } = await service.account.ask(query);
    expect(body.data).toEqual({
      viewer: { nickname: 'Sal', hidden: null, places: [{ id: '0', town: { name: null } }] },
    });
    expect(errorsOf(body.errors)).toEqual([
      [['viewer', 'hidden'], 'UNAUTHORIZED_FIELD_OR_TYPE'],
      [['viewer', 'places', 0, 'town', 'name'], 'UNAUTHORIZED_FIELD_OR_TYPE'],
    ]);
    expect(service.got.map((each) => each.query).join()).not.toMatch(/secret|: name\b/);
  });

  test('contains those fields when the scopes cover them', async () => {
    service = await startRemote(answers(), { scope: ['account:read', 'secrets:read'] });
    const { body } = await service.account.ask('{ viewer { hidden places(first: 1) { town { name } } } }');
    expect(body).toEqual({ data: { viewer: { hidden: 's3cret', places: [{ town: { name: 'Westhaven' } }] } } });
  });

  test('is built again for other scopes and other conditions', async () => {
    service = await startRemote(answers());
    const query =
      'query ($on: Boolean!) { viewer { nickname @include(if: $on) places(first: 1) { id @include(if: $on) town { name } } } }';
    const dataOf = async (on: boolean) => (await service?.account.ask(query, { on }))?.body.data.viewer;
    expect(await dataOf(false)).toEqual({ places: [{ town: { name: null } }] });
    service.scope.add('secrets:read');
    expect(await dataOf(false)).toEqual({ places: [{ town: { name: 'Westhaven' } }] });
    expect(await dataOf(true)).toEqual({ nickname: 'Sal', places: [{ id: '0', town: { name: 'Westhaven' } }] });
    service.scope.delete('secrets:read');
    expect(await dataOf(true)).toEqual({ nickname: 'Sal', places: [{ id: '0', town: { name: null } }] });
    expect(service.got.map((each) => /: name\b/.test(each.query))).toEqual([false, true, true, false]);
  });

  test('is the same when an operation is repeated', async () => {
    service = await startRemote(answers());
    for (let times = 0; times < 2; times += 1) await service.account.ask('{ viewer { nickname places { id } } }');
    const [first, second] = service.got.map(({ query }) => query);
    expect(second).toBe(first);
  });

  test('always has a page size, and is not sent when that is too large', async () => {
    service = await startRemote(answers());
    const { body } = await service.account.ask('{ viewer { places(first: null) { id } } }');
    expect(body.data.viewer.places).toHaveLength(20);
    const large = await service.account.ask('query ($n: Int) { viewer { places(first: $n) { id } } }', { n: 101 });
    expect(large.body.data).toEqual({ viewer: { places: null } });
    expect(errorsOf(large.body.errors)).toEqual([[['viewer', 'places'], 'BAD_USER_INPUT']]);
    expect(service.got).toHaveLength(1);
  });

  test.each([
    ['one: Person', ['{ r0: one { b0: badge } r1: one { b1: nickname } r2: one { b2: rank } }']],
    ['one: Person!', ['{ r0: one { b0: badge } }', '{ r0: one { b1: nickname } }', '{ r0: one { b2: rank } }']],
  ])('keeps non-null fields of the root %s apart, so that none can lose another', async (root, operations) => {
    const recorded = `type Query { ${root} } type Person { badge: Int! nickname: String rank: Int! }`;
    const contract = 'type Query { viewer: Viewer! } type Viewer { id: ID! badge: Int nickname: String rank: Int }';
    const mapping = `extend schema @source(name: "people", graphql: {})
      extend type Viewer {
        badge: Int @graphql(source: "people", root: "one")
        nickname: String @graphql(source: "people", root: "one")
        rank: Int @graphql(source: "people", root: "one")
      }`;
    service = await startRemote(() => ({ json: { data: {} } }), remoteOptions(mapping, recorded, contract));
    await service.account.ask('{ viewer { badge nickname rank } }');
    expect(service.got.map(({ query }) => query).toSorted()).toEqual(
      operations.map((one) => `query AccountApi ${one}`),
    );
  });

  test('is not sent beyond the limit of calls', async () => {
    service = await startRemote(answers(), { limits: { ...LIMITS, upstreamCalls: 2 } });
    const { body } = await service.account.ask('{ viewer { total me nickname } }');
    expect(body.errors).toMatchObject([{ extensions: { code: 'REQUEST_LIMIT_EXCEEDED' } }]);
    expect(service.got).toHaveLength(2);
  });
});

describe('a mutation at a GraphQL upstream', () => {
  test('is the mapped one, with its input in the upstream’s terms', async () => {
    service = await startRemote(answers(), { scope: ['account:read', 'account:write'] });
    const { body } = await service.account.ask('mutation { x: leave(input: { id: "p", state: OFF }) { left } }');
    expect(body).toEqual({ data: { x: { left: 2 } } });
    expect(service.got.map(({ query, variables }) => [query, variables])).toEqual([
      [
        'mutation AccountApi($b0_0: DropWhere!) { b0: drop(where: $b0_0) { f1: left } }',
        { b0_0: { key: 'p', state: 'OLD_OFF' } },
      ],
    ]);
  });

  test.each(['NOT_FOUND', 'FORBIDDEN'])(
    'of another member’s object looks the same as of one that does not exist: %s',
    async (code) => {
      const json = {
        data: { b0: null },
        errors: [{ message: 'row 7 of bob', path: ['b0'], extensions: { code, who: 'bob' } }],
      };
      service = await startRemote(() => ({ json }));
      const { body } = await service.account.ask('mutation { leave(input: { id: "p" }) { left } }');
      expect(body.data).toEqual({ leave: null });
      expect(body.errors).toEqual([
        {
          message: 'Nothing with this ID exists.',
          path: ['leave'],
          locations: [{ line: 1, column: 12 }],
          extensions: { code: 'NOT_FOUND' },
        },
      ]);
    },
  );

  test('refuses a state that the upstream does not have', async () => {
    service = await startRemote(answers());
    const { body } = await service.account.ask('mutation { leave(input: { id: "p", state: UNKNOWN }) { left } }');
    expect(errorsOf(body.errors)).toEqual([[['leave'], 'BAD_USER_INPUT']]);
    expect(service.got).toEqual([]);
  });
});

describe('a response of a GraphQL upstream', () => {
  test('is converted to the contract’s names, states and times', async () => {
    service = await startRemote(answers());
    const { body } = await service.account.ask('{ viewer { places(first: 1) { state opened } } }');
    expect(body).toEqual({ data: { viewer: { places: [{ state: 'ON', opened: '2026-01-02T02:04:05Z' }] } } });
  });

  const place = (value: object) => ({ json: { data: { r0: [{ b0: [{ f1: 'x', ...value }] }] } } });

  test.each<[what: string, said: object, data: unknown, code: string | undefined]>([
    ['a new state', place({ f1: 'BRAND_NEW' }), [{ state: 'UNKNOWN' }], undefined],
    ['a state that is not a name', place({ f1: 5 }), null, 'UPSTREAM_BAD_RESPONSE'],
    ['an object instead of a value', place({ f1: {} }), null, 'UPSTREAM_BAD_RESPONSE'],
    ['a missing field', { json: { data: { r0: [{ b0: [{}] }] } } }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['null for a required field', place({ f1: null }), null, 'UPSTREAM_BAD_RESPONSE'],
    ['a value instead of an object', { json: { data: { r0: [{ b0: ['x'] }] } } }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['not a list', { json: { data: { r0: [{ b0: {} }] } } }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['two members', { json: { data: { r0: [{ b0: [] }, { b0: [] }] } } }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['an unknown member', { json: { data: { r0: [null] } } }, null, undefined],
    ['a keyless root', { json: { data: {} } }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['no JSON', { text: '<html>' }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['a list', { json: [] }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['no data', { json: { errors: [{ message: 'Cannot query' }] } }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['null without an error', { json: { data: null } }, null, 'UPSTREAM_BAD_RESPONSE'],
    [
      'an error without a path beside data',
      { json: { data: { r0: [{ b0: [] }] }, errors: [{ message: 'x' }] } },
      null,
      'UPSTREAM_ERROR',
    ],
    ['errors that are not a list', { json: { data: { r0: [{ b0: [] }] }, errors: 'x' } }, null, 'UPSTREAM_ERROR'],
    ['a refusal', { json: { errors: [{ message: 'x' }] }, status: 400 }, null, 'UPSTREAM_BAD_RESPONSE'],
    ['forbidden', { json: { errors: [{ message: 'x' }] }, status: 403 }, null, 'UPSTREAM_ERROR'],
    ['a failure with data', { json: { data: { r0: [{ b0: [] }] } }, status: 500 }, null, 'UPSTREAM_ERROR'],
    ['a key of the prototype', { text: '{"data":{"__proto__":{"r0":[{"b0":[]}]}}}' }, null, 'UPSTREAM_BAD_RESPONSE'],
  ])('may be malformed: %s', async (_what, said, data, code) => {
    service = await startRemote(() => said as { text: string });
    const { body } = await service.account.ask('{ viewer { id email places { state } } }');
    expect(body.data).toEqual({ viewer: { id: 'm-1001', email: 'student@example.com', places: data } });
    expect((body.errors ?? []).map((each: { extensions: object }) => each.extensions)).toEqual(
      code === undefined ? [] : [{ code }],
    );
  });
});

describe('an error of a GraphQL upstream', () => {
  test('keeps its path but not its message', async () => {
    const places = [
      { id: 1, label: 'A', state: 'OLD_ON', town: failing },
      { id: 2, label: 'B', state: 'OLD_ON' },
    ];
    service = await startRemote(answers({ places }));
    const { body, text } = await service.account.ask('{ viewer { p: places { id in: town { name } } } }');
    expect(body.data).toEqual({
      viewer: {
        p: [
          { id: '1', in: null },
          { id: '2', in: null },
        ],
      },
    });
    expect(errorsOf(body.errors)).toEqual([[['viewer', 'p', 0, 'in'], 'UPSTREAM_ERROR']]);
    expect(text).not.toMatch(/db-7|hunter2|people|Error:/);
  });

  test('below a null is reported at its own path, every one of them', async () => {
    const places = [{ id: 1, label: failing, state: 'OLD_ON', opened: failing }];
    service = await startRemote(answers({ places }));
    const { body } = await service.account.ask('{ viewer { id places { opened l: label } } }');
    expect(body.data).toEqual({ viewer: { id: 'm-1001', places: null } });
    expect(errorsOf(body.errors)).toEqual([
      [['viewer', 'places', 0, 'opened'], 'UPSTREAM_ERROR'],
      [['viewer', 'places', 0, 'l'], 'UPSTREAM_ERROR'],
    ]);
  });

  test('in a non-null field upstream does not affect other fields', async () => {
    service = await startRemote(answers({ badge: failing }, { total: failing }));
    const { body } = await service.account.ask(
      '{ viewer { id email nickname badge total me places(first: 0) { id } } }',
    );
    expect(body.data).toEqual({
      viewer: {
        id: 'm-1001',
        email: 'student@example.com',
        nickname: 'Sal',
        badge: null,
        total: null,
        me: null,
        places: [],
      },
    });
    expect(errorsOf(body.errors).sort()).toEqual([
      [['viewer', 'badge'], 'UPSTREAM_ERROR'],
      [['viewer', 'me'], 'UPSTREAM_ERROR'],
      [['viewer', 'total'], 'UPSTREAM_ERROR'],
    ]);
  });

  test('at the root is reported for each field below it', async () => {
    service = await startRemote(answers({}, { people: failing }));
    const { body } = await service.account.ask('{ viewer { email nickname badge } }');
    expect(body.data).toEqual({ viewer: { email: 'student@example.com', nickname: null, badge: null } });
    expect(errorsOf(body.errors)).toEqual([
      [['viewer', 'nickname'], 'UPSTREAM_ERROR'],
      [['viewer', 'badge'], 'UPSTREAM_ERROR'],
    ]);
  });

  test.each([
    ['down', 'hang up', 'UPSTREAM_UNAVAILABLE'],
    ['hanging', 'nothing', 'UPSTREAM_TIMEOUT'],
  ] as const)('of the whole upstream, %s, leaves the rest of the viewer', async (_what, said, code) => {
    service = await startRemote(() => said, { timeout: 150 });
    const { body } = await service.account.ask('{ viewer { id email nickname badge } }');
    expect(body.data).toEqual({ viewer: { id: 'm-1001', email: 'student@example.com', nickname: null, badge: null } });
    expect(errorsOf(body.errors)).toEqual([
      [['viewer', 'nickname'], code],
      [['viewer', 'badge'], code],
    ]);
  });

  test('by exceeding the operation’s deadline leaves what has arrived', async () => {
    service = await startRemote(() => 'nothing', { deadline: 0.2 });
    const { body } = await service.account.ask('{ viewer { email nickname } }');
    expect(body.data).toEqual({ viewer: { email: 'student@example.com', nickname: null } });
    expect(errorsOf(body.errors)).toEqual([[['viewer', 'nickname'], 'UPSTREAM_TIMEOUT']]);
  });
});
