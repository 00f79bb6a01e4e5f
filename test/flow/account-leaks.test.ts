import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

/** Sam (m-1001) sends every query; Olu is m-1002. */
let world: World;
let sam: string;
let olu: string;
beforeAll(async () => {
  world = await startWorld({ profile: 'A' });
  const app = await registerApp(world.origin);
  sam = (await connect(app)).access_token;
  olu = (await connect(app, { member: OLU })).access_token;
});
afterAll(() => world.close());

const send = async (token: string, body: unknown, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${world.origin}/account/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
};

const OWN = '{ viewer { id email orders(first: 100) { nodes { id number } pageInfo { endCursor } } } }';
const ordersIn = (text: string): string[] =>
  JSON.parse(text).data.viewer.orders.nodes.map(({ id }: { id: string }) => id);

describe('another member’s data', () => {
  it('cannot be reached through an argument, id, input, filter or root field', async () => {
    const ids = ['m-1002', 1002, ['m-1002'], 'm-1001,m-1002', 'bS0xMDAy', { $ne: null }, '../m-1002', 'm-1002%00'];
    const shapes = [
      'query ($x: ID) { viewer(id: $x) { id email } }',
      'query ($x: ID!) { member(id: $x) { id email } }',
      'query ($x: ID!) { node(id: $x) { id } }',
      'query ($x: [ID!]!) { nodes(ids: $x) { id } }',
      'query ($x: [ID!]!) { membersByIds(ids: $x) { id } }',
      'query ($x: ID) { viewer { id orders(memberId: $x) { nodes { id } } } }',
      'query ($x: ID) { viewer { id orders(where: { memberId: $x }) { nodes { id } } } }',
      'query ($x: ID) { viewer { id enrolledCourses(filter: { user: $x }) { nodes { slug } } } }',
    ];
    for (const query of shapes) {
      for (const x of ids) {
        const { text } = await send(sam, { query, variables: { x } });
        expect(JSON.parse(text).errors, query).toBeDefined();
        expect(JSON.parse(text).data, query).toBeUndefined();
        expect(text).not.toMatch(/other@example\.com|did you mean/i);
      }
    }
  });

  it('cannot be read with another member’s cursor, which is only a position in one’s own list', async () => {
    const theirs = JSON.parse((await send(olu, { query: OWN })).text).data.viewer.orders;
    const query = 'query ($c: String) { viewer { orders(first: 100, after: $c) { nodes { id } } } }';
    const { text } = await send(sam, { query, variables: { c: theirs.pageInfo.endCursor } });
    for (const { id } of theirs.nodes) expect(text).not.toContain(`"${id}"`);
  });

  it('cannot be reached by naming the member in variables or header fields', async () => {
    const { text } = await send(
      sam,
      { query: 'query ($viewerId: ID = "m-1002", $sub: ID) { viewer { id email } }', variables: { sub: 'm-1002' } },
      { 'x-member-id': 'm-1002', 'x-coursegate-assertion': 'forged', cookie: 'member=m-1002' },
    );
    expect(text).not.toMatch(/m-1002|other@example/);
    const named = await send(sam, { query: OWN }, { 'x-member-id': 'm-1002', 'x-member-email': 'other@example.com' });
    expect(JSON.parse(named.text).data.viewer).toMatchObject({ id: 'm-1001', email: 'student@example.com' });
  });

  it('never appears among a thousand mixed responses', async () => {
    const [own, others] = [
      ordersIn((await send(sam, { query: OWN })).text),
      ordersIn((await send(olu, { query: OWN })).text),
    ];
    expect(own.filter((id) => others.includes(id))).toEqual([]);
    let next = 0;
    const lane = async () => {
      for (;;) {
        const at = next++;
        if (at >= 1000) return;
        const mine = at % 2 === 0;
        const { text } = await send(mine ? sam : olu, { query: OWN });
        expect(JSON.parse(text).data.viewer.id).toBe(mine ? 'm-1001' : 'm-1002');
        expect(ordersIn(text)).toEqual(mine ? own : others);
      }
    };
    await Promise.all(Array.from({ length: 20 }, lane));
  });
});

describe('a token that reads', () => {
  const WRITE = 'savePlaybackPosition(input: { courseSlug: "harbour-navigation", lectureId: "1", positionSeconds: 7 })';

  it.each([
    ['as the second of two operations', `query A { viewer { id } } mutation B { ${WRITE} { courseSlug } }`, 'B'],
    ['with the name of a query', `mutation viewer { viewer: ${WRITE} { courseSlug } }`, undefined],
    ['in a fragment', `mutation { ...F } fragment F on Mutation { ${WRITE} { courseSlug } }`, undefined],
    ['in an inline fragment', `mutation { ... on Mutation { x: ${WRITE} { courseSlug } } }`, undefined],
  ])('cannot write %s', async (_how, query, operationName) => {
    const { status, text } = await send(sam, { query, operationName });
    expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([403, 'UNAUTHORIZED_FIELD_OR_TYPE']);
    const after = await send(sam, {
      query: '{ viewer { enrolledCourses(first: 1) { nodes { lastWatchedLecture { positionSeconds } } } } }',
    });
    expect(after.text).not.toContain('"positionSeconds":7}');
  });
});

describe('the Account API refuses', () => {
  it('batches of 2 and of 1,000, and a multipart request', async () => {
    for (const count of [2, 1000]) {
      const { status, text } = await send(
        sam,
        Array.from({ length: count }, () => ({ query: '{ viewer { id } }' })),
      );
      expect([status, JSON.parse(text).data]).toEqual([400, undefined]);
    }
    const form = new FormData();
    form.set('operations', '{"query":"{ viewer { id } }"}');
    const headers = { authorization: `Bearer ${sam}` };
    const { status } = await fetch(`${world.origin}/account/graphql`, { method: 'POST', body: form, headers });
    expect(status).toBe(415);
  });

  it('@defer, @stream and a thousand aliases that probe for existing members', async () => {
    for (const query of [
      '{ viewer { ... @defer { id } } }',
      '{ viewer { enrolledCourses(first: 1) { nodes @stream { slug } } } }',
      `{ ${Array.from({ length: 1000 }, (_, at) => `a${at}: existsUser(id: ${at})`).join(' ')} }`,
      `{ viewer { ${Array.from({ length: 31 }, (_, at) => `a${at}: id`).join(' ')} } }`,
    ]) {
      expect(JSON.parse((await send(sam, { query })).text)).toEqual({ errors: expect.any(Array) });
    }
  });
});
