import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type School, startSchool } from '../../../src/operator/demo/school.ts';
import { startSigningGate } from '../../support/signing-gate.ts';

const NOW = Date.UTC(2026, 4, 20, 10);
const gate = await startSigningGate(NOW);
const { as } = gate;

let school: School;
beforeAll(async () => {
  school = await startSchool({ ports: { school: 0, progress: 0, events: 0 }, gate: () => gate, clock: () => NOW });
});
afterAll(async () => {
  await school.close();
  await gate.close();
});

async function call(at: string, headers: Record<string, string> = {}, method = 'GET', json?: unknown) {
  const response = await fetch(at, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared to literals
  const body: any = await response.json();
  return { status: response.status, body };
}

describe('the progress service', () => {
  const positions = async (member: string, slugs: string, aud = 'progress') =>
    call(`${school.urls.progress}/v2/positions?slugs=${slugs}`, await as(member, aud));

  it('reports where a member stopped in the courses that they started', async () => {
    const enrolments = `${school.urls.school}/api/v1/members/m-1001/enrolments?per_page=50`;
    const { body } = await call(enrolments, await as('m-1001', 'school'));
    const slugs = body.data.map((row: { course: { slug: string } }) => row.course.slug);
    const found = await positions('m-1001', slugs.join());
    expect(found.body.positions).toHaveLength(25);
    expect(found.body.positions[0]).toEqual({
      course_slug: 'harbour-navigation',
      lecture_id: expect.any(Number),
      position_ms: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect((await positions('m-1001', 'nothing')).body).toEqual({ positions: [] });
  });

  it('refuses unauthenticated requests, assertions for another service, and too many courses', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`).join();
    expect((await positions('m-1001', many(100))).status).toBe(200);
    expect((await positions('m-1001', many(101))).status).toBe(400);
    expect((await call(`${school.urls.progress}/v2/positions`, await as('m-1001', 'progress'))).status).toBe(400);
    const anonymous = await call(`${school.urls.progress}/v2/positions?slugs=a`);
    expect([anonymous.status, anonymous.body.error.code]).toEqual([401, 'sign_in_required']);
    const wrong = await positions('m-1001', 'a', 'school');
    expect([wrong.status, wrong.body.error.code]).toEqual([401, 'identity_not_proved']);
  });

  it('stores a position for that member only', async () => {
    const put = async (slug: string, json: unknown) =>
      call(`${school.urls.progress}/v2/positions/${slug}`, await as('m-1002', 'progress'), 'PUT', json);
    const stored = await put('night-sailing', { lecture_id: 4711, position_ms: 754_000 });
    const position = { course_slug: 'night-sailing', lecture_id: 4711, position_ms: 754_000, updated_at: NOW / 1000 };
    expect([stored.status, stored.body]).toEqual([200, position]);
    expect((await positions('m-1002', 'night-sailing')).body.positions).toEqual([position]);
    expect((await positions('m-1001', 'night-sailing')).body.positions).not.toContainEqual(position);
    expect((await put('nothing', { lecture_id: 1, position_ms: 1 })).status).toBe(404);
    expect((await put('night-sailing', { lecture_id: '1', position_ms: 1 })).status).toBe(400);
  });
});

describe('the events service', () => {
  const ask = async (query: string, headers: Record<string, string> = {}, variables = {}) =>
    call(`${school.urls.events}/graphql`, headers, 'POST', { query, variables });

  it('returns members only their own data', async () => {
    const query = `query ($ids: [ID!]!) { membersByIds(ids: $ids) { id eventRegistrations(first: 2) {
      totalCount pageInfo { hasNextPage } nodes { id status registeredAt event { title attendanceMode } } } } }`;
    const ids = ['m-1002', 'm-1001', 'm-1'];
    const { status, body } = await ask(query, await as('m-1001', 'events'), { ids });
    expect(status).toBe(200);
    expect([body.data.membersByIds[0], body.data.membersByIds[2]]).toEqual([null, null]);
    const { totalCount, nodes, pageInfo } = body.data.membersByIds[1].eventRegistrations;
    expect([totalCount, nodes.length, nodes[0].id, pageInfo.hasNextPage]).toEqual([14, 2, 'r-1', true]);
    expect(nodes[0].registeredAt).toMatch(/^2026-04-\d\dT\d\d:00:00\.000Z$/);
    expect((await ask(query, {}, { ids })).body.data.membersByIds).toEqual([null, null, null]);
    expect((await ask(query, await as('m-1001', 'school'), { ids })).status).toBe(401);
  });

  it('lists public events, page by page', async () => {
    const query = `query ($after: String) {
      events(first: 10, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }`;
    const ids: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page: { nodes: { id: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } = (
        await ask(query, {}, { after })
      ).body.data.events;
      ids.push(...page.nodes.map(({ id }) => id));
      after = page.pageInfo.endCursor;
      more = page.pageInfo.hasNextPage;
    }
    expect(ids).toEqual(Array.from({ length: 24 }, (_, index) => `ev-${index + 1}`));
    const one = await ask('{ event(id: "ev-1") { title startsAt } none: event(id: "x") { id } internalAudit }');
    expect(one.body.data).toMatchObject({ event: { title: 'Open evening at the harbour' }, none: null });
  });

  it('refuses invalid queries', async () => {
    expect((await ask('{ nothing }')).status).toBe(400);
    expect((await ask('{')).body.errors).toHaveLength(1);
    expect((await ask('{ events(first: -1) { totalCount } }')).body.errors[0].message).toBe(
      'first must not be negative.',
    );
    expect((await ask('{ events(after: "x") { totalCount } }')).body.data).toBeNull();
    expect((await call(`${school.urls.events}/graphql`, {}, 'POST', {})).status).toBe(400);
    expect((await call(`${school.urls.events}/graphql`)).status).toBe(405);
  });
});

describe('streams', () => {
  it('sends events and then ends', async () => {
    const response = await fetch(`${school.urls.school}/api/v1/ticks?count=2`);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toBe(
      'id: 1\nevent: tick\ndata: {"tick":1,"of":2}\n\nid: 2\nevent: tick\ndata: {"tick":2,"of":2}\n\n',
    );
    expect((await call(`${school.urls.school}/api/v1/ticks?count=101`)).status).toBe(400);
  });
});
