import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

/** The contract's example query, verbatim. */
const QUERY =
  'query { viewer { id email enrolledCourses(first: 2) { nodes { slug expireDate hasLifetimeAccess lastWatchedLecture { lectureId positionSeconds } } } } }';

/** The school computes its dates from the time it starts, so a fixed time gives fixed responses. */
const NOON = new Date('2026-11-21T12:00:00Z');

const ask = (origin: string, token: string | undefined, body: unknown = { query: QUERY }) =>
  fetch(`${origin}/account/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });

// biome-ignore lint/suspicious/noExplicitAny: an answer is judged field by field
const json = (answer: Response): Promise<any> => answer.json();

describe('the Account API in Profile A', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', today: NOON });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  it('answers the contract’s query for the member of the token', async () => {
    const { access_token: token } = await connect(app);
    const answer = await ask(world.origin, token);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/(graphql-response\+)?json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toEqual({
      data: {
        viewer: {
          id: 'm-1001',
          email: 'student@example.com',
          enrolledCourses: {
            nodes: [
              {
                slug: 'harbour-navigation',
                expireDate: '2027-12-08T07:00:00Z',
                hasLifetimeAccess: false,
                lastWatchedLecture: { lectureId: '4701', positionSeconds: 39 },
              },
              {
                slug: 'joinery-by-hand',
                expireDate: '2026-10-31T14:00:00Z',
                hasLifetimeAccess: false,
                lastWatchedLecture: { lectureId: '4742', positionSeconds: 232 },
              },
            ],
          },
        },
      },
    });
  });

  it('answers another member with their own', async () => {
    const { access_token: token } = await connect(app, { member: OLU });
    const body = await (await ask(world.origin, token)).json();
    expect(body).toMatchObject({ data: { viewer: { id: 'm-1002', email: 'other@example.com' } } });
    expect(JSON.stringify(body)).not.toContain('m-1001');
  });

  it('answers with the member’s own orders only', async () => {
    const query = `{ viewer { orders(first: 100) { totalCount nodes { id number processedAt canceledAt financialStatus
      subtotal { amount currencyCode } totalTax { amount } totalPrice { amount currencyCode } totalRefunded { amount }
      lineItems { title quantity unitPrice { amount currencyCode } totalPrice { amount } course { slug title } } receiptUrl } } } }`;
    const read = async (member?: typeof OLU) => {
      const { access_token: token } = await connect(app, member === undefined ? {} : { member });
      const { data, errors } = await json(await ask(world.origin, token, { query }));
      expect(errors).toBeUndefined();
      return data.viewer.orders;
    };
    const [own, others] = [await read(), await read(OLU)];
    expect(own.nodes[0]).toEqual({
      id: 'o-1',
      number: 'HL-20007',
      processedAt: '2024-09-23T14:00:00Z',
      canceledAt: null,
      financialStatus: 'PAID',
      subtotal: { amount: '154.55', currencyCode: 'EUR' },
      totalTax: { amount: '32.45' },
      totalPrice: { amount: '187.00', currencyCode: 'EUR' },
      totalRefunded: null,
      lineItems: own.nodes[0].lineItems,
      receiptUrl: null,
    });
    const [line, ...more] = own.nodes[0].lineItems;
    expect(line).toEqual({
      title: line.course.title,
      quantity: 1,
      unitPrice: { amount: line.totalPrice.amount, currencyCode: 'EUR' },
      totalPrice: { amount: expect.stringMatching(/^\d+\.\d\d$/) },
      course: { slug: expect.stringMatching(/^[a-z0-9-]+$/), title: expect.any(String) },
    });
    const cents = [line, ...more].map(({ totalPrice }) => Number(totalPrice.amount.replace('.', '')));
    expect(cents.reduce((sum, each) => sum + each, 0)).toBe(18_700);
    expect(own.nodes).toHaveLength(own.totalCount);
    const refunded = own.nodes.find(
      ({ financialStatus }: { financialStatus: string }) => financialStatus === 'REFUNDED',
    );
    expect(refunded.totalRefunded.amount).toBe(refunded.totalPrice.amount);
    const ids = (orders: { nodes: { id: string }[] }) => orders.nodes.map(({ id }) => id);
    expect(ids(own).filter((id) => ids(others).includes(id))).toEqual([]);
    expect(others.totalCount).toBeGreaterThan(3);
  });

  it('saves where the member stopped, with account:write', async () => {
    const { access_token: token } = await connect(app, { parameters: { scope: 'account:read account:write' } });
    const SAVE = `mutation ($input: SavePlaybackPositionInput!) {
      savePlaybackPosition(input: $input) { courseSlug lastWatchedLecture { lectureId positionSeconds } } }`;
    const save = async (input: object, by = token) => {
      const answer = await ask(world.origin, by, { query: SAVE, variables: { input } });
      return { status: answer.status, challenge: answer.headers.get('www-authenticate'), body: await json(answer) };
    };
    const stopped = { lectureId: '4705', positionSeconds: 321 };
    expect(await save({ courseSlug: 'harbour-navigation', ...stopped })).toMatchObject({
      status: 200,
      body: { data: { savePlaybackPosition: { courseSlug: 'harbour-navigation', lastWatchedLecture: stopped } } },
    });
    const after = await json(await ask(world.origin, token));
    expect(after.data.viewer.enrolledCourses.nodes[0].lastWatchedLecture).toEqual(stopped);

    const other = await (await ask(world.origin, (await connect(app, { member: OLU })).access_token)).json();
    expect(JSON.stringify(other)).not.toContain('"positionSeconds":321');

    for (const [input, code] of [
      [{ courseSlug: 'no-such-course', ...stopped }, 'NOT_FOUND'],
      [{ courseSlug: 'harbour-navigation', lectureId: '4705', positionSeconds: -1 }, 'BAD_USER_INPUT'],
      [{ courseSlug: 'harbour-navigation', lectureId: 'x', positionSeconds: 1 }, 'BAD_USER_INPUT'],
      [{ courseSlug: '../positions/harbour-navigation', ...stopped }, 'BAD_USER_INPUT'],
    ] as const) {
      const { status, body } = await save(input);
      expect([status, body.data, body.errors[0].extensions]).toEqual([200, { savePlaybackPosition: null }, { code }]);
    }

    const { access_token: reader } = await connect(app, { parameters: { scope: 'account:read' } });
    const refused = await save({ courseSlug: 'harbour-navigation', lectureId: '1', positionSeconds: 9 }, reader);
    expect(refused).toMatchObject({
      status: 403,
      body: { errors: [{ extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' } }] },
    });
    expect(refused.challenge).toContain('error="insufficient_scope"');
    expect(refused.challenge).toContain('scope="account:read account:write"');
    const unchanged = await json(await ask(world.origin, token));
    expect(unchanged.data.viewer.enrolledCourses.nodes[0].lastWatchedLecture).toEqual(stopped);
  });

  it('lists the member’s event registrations, and cancels only their own', async () => {
    const scope = { parameters: { scope: 'account:read account:write' } };
    const [{ access_token: mine }, { access_token: theirs }] = [
      await connect(app, scope),
      await connect(app, { ...scope, member: OLU }),
    ];
    const LIST = `query ($when: EventTime! = ANY) { viewer { id eventRegistrations(when: $when, first: 100) { totalCount
      nodes { id status registeredAt canceledAt checkedInAt quantity event { id slug title startsAt endsAt timeZone
        attendanceMode venue { name address city countryCode } joinUrl } } } } }`;
    const list = async (token: string, when = 'ANY') => {
      const { data, errors } = await json(await ask(world.origin, token, { query: LIST, variables: { when } }));
      expect(errors).toBeUndefined();
      return data.viewer.eventRegistrations;
    };
    const [own, others] = [await list(mine), await list(theirs)];
    expect([own.totalCount, others.totalCount]).toEqual([14, 6]);
    const ids = (all: typeof own): string[] => all.nodes.map(({ id }: { id: string }) => id);
    expect(ids(own).filter((id) => ids(others).includes(id))).toEqual([]);
    expect(own.nodes[0]).toMatchObject({ id: 'r-1', registeredAt: expect.stringMatching(/^2026-\d\d-\d\dT.*Z$/) });
    expect(new Set(own.nodes.map(({ status }: { status: string }) => status))).not.toContain('UNKNOWN');
    const [past, upcoming] = [await list(mine, 'PAST'), await list(mine, 'UPCOMING')];
    expect([...ids(past), ...ids(upcoming)].sort()).toEqual(ids(own).sort());

    const cancel = async (token: string, id: unknown) => {
      const query = `mutation ($id: ID!) { cancelEventRegistration(id: $id) { registration { id status canceledAt } } }`;
      const answer = await ask(world.origin, token, { query, variables: { id } });
      return { status: answer.status, body: await json(answer) };
    };
    const going = upcoming.nodes.find(({ status }: { status: string }) => status === 'CONFIRMED').id;
    const missing = await cancel(theirs, 'r-999');
    expect(missing.body.errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    for (const id of [going, ...ids(own), `${going},r-15`, 1, '']) {
      expect(await cancel(theirs, id)).toEqual(missing);
    }
    expect(await list(mine)).toEqual(own);
    expect(await cancel(mine, going)).toEqual({
      status: 200,
      body: {
        data: {
          cancelEventRegistration: {
            registration: {
              id: going,
              status: 'CANCELED',
              canceledAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
            },
          },
        },
      },
    });
    expect((await cancel(mine, past.nodes[0].id)).body.data).toBeDefined();
    const { access_token: reader } = await connect(app, { parameters: { scope: 'account:read' } });
    expect((await cancel(reader, going)).status).toBe(403);
  });

  it('exposes no field of the events service’s schema beyond the contract', async () => {
    const { access_token: token } = await connect(app, { parameters: { scope: 'account:read account:write' } });
    const recorded = readFileSync(new URL('../../schema/upstream/recorded/events.graphql', import.meta.url), 'utf8');
    const contract = readFileSync(new URL('../../schema/account.graphql', import.meta.url), 'utf8');
    const words = contract.replace(/"[^"\n]*"/g, '');
    const names = [...recorded.matchAll(/^ {2}([a-z]\w*)[(:]/gm)].map(([, name = '']) => name);
    const hidden = [...new Set(names)].filter((name) => !new RegExp(`\\b${name}\\b`).test(words));
    expect(hidden).toEqual(
      expect.arrayContaining(['internalAudit', 'membersByIds', 'deleteMember', 'cancelledAt', 'seats']),
    );
    const registration = 'viewer { eventRegistrations { nodes';
    for (const name of hidden) {
      for (const query of [
        `{ ${name} }`,
        `mutation { ${name} }`,
        `{ viewer { ${name} } }`,
        `{ ${registration} { ${name} } } } }`,
        `{ ${registration} { event { ${name} } } } } }`,
        `{ ${registration} { event { venue { ${name} } } } } } }`,
        `{ viewer { ... on Member { ${name} } } }`,
      ]) {
        const body = await json(await ask(world.origin, token, { query }));
        expect([query, body.data, body.errors[0].extensions.code]).toEqual([
          query,
          undefined,
          'GRAPHQL_VALIDATION_FAILED',
        ]);
      }
    }
  });

  it('refuses every request without a token', async () => {
    for (const body of [{ query: QUERY }, { query: '{ __typename }' }, {}, []]) {
      const answer = await ask(world.origin, undefined, body);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain(
        `Bearer error="invalid_token", error_description="an access token is needed", resource_metadata="${world.origin}/.well-known/oauth-protected-resource", scope="account:read"`,
      );
      expect(await answer.json()).toEqual({ error: 'invalid_token', error_description: 'an access token is needed' });
    }
  });

  it('refuses a token without account:read', async () => {
    const { access_token: token } = await connect(app, { parameters: { scope: 'openid email courses:read' } });
    const answer = await ask(world.origin, token);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(answer.headers.get('www-authenticate')).toContain('scope="openid email courses:read account:read"');
    expect(await answer.json()).toMatchObject({ error: 'insufficient_scope' });
  });

  it('refuses a token of another origin, and names its own metadata in the challenge', async () => {
    // On the same store, so that the token is known and active, but issued for another resource.
    const data = mkdtempSync(join(tmpdir(), 'coursegate-elsewhere-'));
    const elsewhere = await startWorld({ profile: 'A', data });
    const { access_token: token } = await connect(await registerApp(elsewhere.origin));
    expect((await ask(elsewhere.origin, token)).status).toBe(200);
    await elsewhere.close();
    const here = await startWorld({ profile: 'A', data });
    try {
      const answer = await ask(here.origin, token);
      expect(answer.status).toBe(401);
      const challenge = answer.headers.get('www-authenticate');
      expect(challenge).toContain('Bearer error="invalid_token"');
      expect(challenge).toContain(`resource_metadata="${here.origin}/.well-known/oauth-protected-resource"`);
      expect(await answer.json()).toMatchObject({ error: 'invalid_token' });
      for (const path of ['/api/v1/courses', '/api/oauth/userinfo']) {
        const { status } = await fetch(here.origin + path, { headers: { authorization: `Bearer ${token}` } });
        expect({ path, status }).toEqual({ path, status: 401 });
      }
    } finally {
      await here.close();
      rmSync(data, { recursive: true });
    }
  });

  it('accepts only POST, and answers malformed requests with GraphQL errors', async () => {
    const { access_token: token } = await connect(app);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await fetch(`${world.origin}/account/graphql`, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST');
      // urql sends queries by GET unless it is told otherwise.
      expect(await answer.json()).toMatchObject({
        errors: [{ message: expect.stringMatching(/by POST.*member query.*preferGetMethod: false/) }],
      });
    }
    const query = '{ viewer { enrolledCourses(first: 1, after: "") { nodes { slug } } } }';
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const empty = await fetch(`${world.origin}/account/graphql`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ query }) },
    });
    expect(await empty.json()).toMatchObject({
      errors: [{ message: expect.stringMatching(/send pageInfo\.endCursor of the previous page, or null/) }],
    });
    // GraphQL over HTTP: a malformed request is 400; a document that cannot be executed is 200 in application/json.
    const cases: [unknown, number][] = [
      [{}, 400],
      [[], 400],
      [null, 400],
      [{ query: 5 }, 400],
      [{ query: '{' }, 200],
      [{ query: '{ nothing }' }, 200],
    ];
    for (const [body, status] of cases) {
      const answer = await ask(world.origin, token, body);
      expect({ body, status: answer.status }).toEqual({ body, status });
      const text = await answer.text();
      expect(JSON.parse(text)).toMatchObject({ errors: [{ message: expect.any(String) }] });
      expect(text).not.toMatch(/\bat \S+:\d|node_modules|\/src\//);
    }
  });
});

describe('the Account API in Profile B', () => {
  it('does not exist: its path belongs to the school, with or without a token', async () => {
    const world = await startWorld({ profile: 'B' });
    try {
      const { access_token: token } = await connect(await registerApp(world.origin));
      for (const one of [undefined, token]) {
        const answer = await ask(world.origin, one);
        expect(answer.status).toBe(404);
        expect(answer.headers.get('www-authenticate')).toBeNull();
        expect(await answer.text()).not.toMatch(/viewer|"errors"|"data"/);
      }
    } finally {
      await world.close();
    }
  });
});
