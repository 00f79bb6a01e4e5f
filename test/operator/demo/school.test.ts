import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type School, startSchool } from '../../../src/operator/demo/school.ts';
import { type Claims, startSigningGate } from '../../support/signing-gate.ts';

const NOW = Date.UTC(2026, 4, 20, 10);
const gate = await startSigningGate(NOW);
const { as, assertion } = gate;
const { privateKey: strangerKey } = await generateKeyPair('ES256');

let school: School;
beforeAll(async () => {
  school = await startSchool({ ports: { school: 0, progress: 0, events: 0 }, gate: () => gate, clock: () => NOW });
});
afterAll(async () => {
  await school.close();
  await gate.close();
});

async function call(
  path: string,
  init: { headers?: Record<string, string>; method?: string; json?: unknown; at?: string } = {},
) {
  const { json, at = `${school.urls.school}/api/v1`, headers, method } = init;
  const response = await fetch(at + path, {
    method: method ?? 'GET',
    headers: { ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: answers are compared to literals
  const body: any = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, headers: response.headers, body };
}

describe('the identity from the gate', () => {
  it('is accepted if it is signed for this service and names the same member', async () => {
    const { status, body } = await call('/whoami', { headers: await as('m-1001') });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      member_id: 'm-1001',
      email: 'student@example.com',
      name: 'Sam Student',
      scope: 'orders:read',
      client_id: 'app-1',
      headers: { 'x-member-id': 'm-1001' },
    });
  });

  it('can be absent', async () => {
    const { status, body } = await call('/whoami');
    expect([status, body.data.member_id]).toEqual([200, null]);
  });

  const now = NOW / 1000;
  it.each<[string, Claims, Record<string, string>]>([
    ['a wrong key', { key: strangerKey }, {}],
    ['a wrong audience', { aud: 'progress' }, {}],
    ['a wrong issuer', { iss: 'http://other.example' }, {}],
    ['an expired assertion', { exp: now - 60 }, {}],
    ['an assertion with too long a lifetime', { exp: now + 3600 }, {}],
    ['another member id', {}, { 'x-member-id': 'm-1002' }],
    ['two member ids', {}, { 'x-member-id': 'm-1001, m-1002' }],
    ['no assertion', {}, { 'x-coursegate-assertion': '' }],
    ['an invalid assertion', {}, { 'x-coursegate-assertion': 'a.b.c' }],
    ['an empty subject', { sub: '' }, { 'x-member-id': '' }],
  ])('is refused with %s, even on public paths', async (_case, claims, overrides) => {
    const headers = { 'x-member-id': 'm-1001', 'x-coursegate-assertion': await assertion(claims), ...overrides };
    const { status, body } = await call('/courses', { headers });
    expect([status, body.error.code]).toEqual([401, 'identity_not_proved']);
  });

  it('is refused if the header or the assertion is missing, or the assertion is unsigned', async () => {
    const half = await call('/courses', { headers: { 'x-member-id': 'm-1001' } });
    expect([half.status, half.body.error.code]).toEqual([401, 'identity_not_proved']);
    const other = await call('/courses', { headers: { 'x-coursegate-assertion': await assertion() } });
    expect([other.status, other.body.error.code]).toEqual([401, 'identity_not_proved']);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const unsigned = `${part({ alg: 'none' })}.${part({ sub: 'm-1001', iss: gate.issuer, aud: 'school', exp: 9e9 })}.`;
    const none = await call('/courses', { headers: { 'x-member-id': 'm-1001', 'x-coursegate-assertion': unsigned } });
    expect(none.status).toBe(401);
  });

  it('is verified with keys that are fetched once per service, and returns 503 without them', async () => {
    const headers = await as('m-1001');
    await call('/whoami', { headers });
    const before = gate.fetches();
    await call('/whoami', { headers });
    expect(gate.fetches()).toBe(before);
    const gates = [{ issuer: gate.issuer, jwksUrl: 'http://127.0.0.1:1/jwks.json' }, undefined];
    for (const gate of gates) {
      const lonely = await startSchool({ ports: { school: 0, progress: 0, events: 0 }, gate: () => gate });
      const { status, body } = await call('/whoami', { headers, at: `${lonely.urls.school}/api/v1` });
      expect([status, body.error.code]).toEqual([503, 'identity_unavailable']);
      await lonely.close();
    }
  });
});

describe('a member’s own records', () => {
  it('are shown to that member only', async () => {
    const headers = await as('m-1001');
    const own = await call('/members/m-1001', { headers });
    expect(own.status).toBe(200);
    expect(Object.keys(own.body.data)).toEqual(['id', 'email_address', 'display_name', 'joined_at']);
    expect((await call('/members/m-1002', { headers })).status).toBe(403);
    expect((await call('/members/m-9999', { headers })).status).toBe(403);
    expect((await call('/members/m-1002/enrolments', { headers })).status).toBe(403);
    expect((await call('/members/m-1001')).status).toBe(401);
    expect((await call('/members/m-1001/enrolments')).status).toBe(401);
    const list = await call('/members', { headers });
    expect(list.body.data.map((row: { id: string }) => row.id)).toEqual(['m-1001']);
    const order = (await call('/orders', { headers: await as('m-1002') })).body.data[0].id;
    expect((await call(`/orders/${order}`, { headers })).status).toBe(404);
  });

  it.each([
    ['m-1001', 37, 7],
    ['m-1001', 37, 20],
    ['m-1002', 24, 5],
  ])('include the enrolments of %s: %i rows, each once, %i to a page', async (member, total, perPage) => {
    const headers = await as(member);
    const ids: string[] = [];
    for (let page: number | null = 1; page !== null; ) {
      const { body } = await call(`/members/${member}/enrolments?page=${page}&per_page=${perPage}`, { headers });
      expect(body.meta).toMatchObject({ page, per_page: perPage, total });
      ids.push(...body.data.map((row: { id: string }) => row.id));
      page = body.meta.next_page;
    }
    const first = member === 'm-1001' ? 1 : 38;
    expect(ids).toEqual(Array.from({ length: total }, (_, index) => `e-${first + index}`));
  });

  it('have dates and flags as in old systems', async () => {
    const { body } = await call('/members/m-1001/enrolments?per_page=50', { headers: await as('m-1001') });
    expect(body.data[0].course).toEqual({ id: 'c-1', slug: 'harbour-navigation', title: 'Harbour Navigation' });
    const lifetimes = body.data.filter((row: { lifetime: number }) => row.lifetime === 1);
    expect(lifetimes.length).toBeGreaterThan(5);
    expect(lifetimes.length).toBeLessThan(30);
    for (const row of body.data) {
      expect(Object.keys(row)).toEqual(['id', 'course', 'enrolled_at', 'expires_at', 'lifetime']);
      expect(row.lifetime).toBe(row.expires_at === 0 ? 1 : 0);
      expect(row.enrolled_at).toBeLessThan(NOW / 1000);
    }
  });

  it.each(['page=0', 'page=-1', 'page=x', 'per_page=1.5', 'page=1&page=2', 'per_page='])(
    'are refused with %s',
    async (query) => {
      const { status, body } = await call(`/courses?${query}`);
      expect([status, body.error.code]).toEqual([400, 'bad_request']);
    },
  );

  it('are limited to fifty rows a page, and a page past the end is empty', async () => {
    const most = await call('/courses?per_page=500');
    expect(most.body.meta).toEqual({ page: 1, per_page: 50, total: 60, next_page: 2 });
    const past = await call('/courses?page=9');
    expect(past.body).toEqual({ data: [], meta: { page: 9, per_page: 20, total: 60, next_page: null } });
  });
});

describe('resources', () => {
  it.each([
    ['courses', 60],
    ['curriculum', 60],
    ['lecturers', 16],
    ['events', 24],
    ['posts', 3],
    ['pages', 2],
    ['membership_plans', 3],
    ['digital_products', 3],
    ['comments', 3],
    ['forms', 3],
  ])('%s are public: %i', async (area, total) => {
    const list = await call(`/${area}`);
    expect([list.status, list.body.meta.total]).toEqual([200, total]);
    const item = await call(`/${area}/${list.body.data[0].id}`);
    expect(item.body).toEqual({ data: list.body.data[0] });
    expect((await call(`/${area}/none`)).status).toBe(404);
    expect((await fetch(`${school.urls.school}/api/v1/${area}`, { method: 'HEAD' })).status).toBe(200);
  });

  it.each([
    ['coupons', 3],
    ['orders', 16],
    ['event_registrations', 14],
    ['subscriptions', 1],
    ['analytics', 1],
    ['members', 1],
    ['students', 1],
  ])('%s require a sign-in: %i', async (area, total) => {
    const anonymous = await call(`/${area}`);
    expect([anonymous.status, anonymous.body.error.code]).toEqual([401, 'sign_in_required']);
    const { status, body } = await call(`/${area}`, { headers: await as('m-1001') });
    expect([status, body.meta.total]).toEqual([200, total]);
    expect((await call(`/${area}/${body.data[0].id}`)).status).toBe(401);
  });

  it.each([
    ['school', 'Harbour Lane School', 'name'],
    ['appearance', 'quay', 'theme'],
  ])('%s is a single object', async (area, value, field) => {
    expect((await call(`/${area}`)).body.data[field]).toBe(value);
    const changed = await call(`/${area}`, { method: 'PATCH', json: { note: 1 }, headers: await as('m-1001') });
    expect(changed.body.data).toMatchObject({ [field]: value, note: 1, updated_by: 'm-1001' });
    expect((await call(`/${area}`, { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD, POST, PUT, PATCH');
  });

  it('have past dates for what members did', async () => {
    const headers = await as('m-1001');
    const orders = (await call('/orders', { headers })).body.data;
    const registrations = (await call('/event_registrations', { headers })).body.data;
    for (const { placed_at } of orders) expect(placed_at).toBeLessThan(NOW / 1000);
    for (const { registered_at } of registrations) expect(registered_at).toBeLessThan(NOW / 1000);
  });

  it('include the curriculum of a course', async () => {
    const { body } = await call('/curriculum?course=harbour-navigation');
    expect(body.meta.total).toBe(1);
    expect(body.data[0].sections[0].lectures[0]).toMatchObject({ id: 4701, title: 'Welcome aboard' });
  });

  it.each(
    [
      'courses students members curriculum events membership_plans coupons posts subscriptions',
      'digital_products lecturers pages',
    ].flatMap((names) => names.split(' ')),
  )('%s can be written by members', async (area) => {
    const headers = await as('m-1001');
    const json = { title: 'New', id: 'c-1', created_by: 'm-1002' };
    expect((await call(`/${area}`, { method: 'POST', json })).status).toBe(401);
    const created = await call(`/${area}`, { method: 'POST', json, headers });
    const { id } = created.body.data;
    expect(created.status).toBe(201);
    expect(created.body.data).toMatchObject({ title: 'New', created_by: 'm-1001', created_at: NOW / 1000 });
    expect(id).toMatch(/-10001$/);
    const patched = await call(`/${area}/${id}`, { method: 'PATCH', json: { price: 1 }, headers });
    expect(patched.body.data).toMatchObject({ id, title: 'New', price: 1, created_by: 'm-1001' });
    const put = await call(`/${area}/${id}`, { method: 'PUT', json: { created_by: 'x', price: 2 }, headers });
    const times = { created_at: NOW / 1000, updated_at: NOW / 1000 };
    expect(put.body.data).toEqual({ id, price: 2, created_by: 'm-1001', ...times });
    expect((await call(`/${area}/${id}`, { method: 'DELETE' })).status).toBe(401);
    expect((await call(`/${area}/${id}`, { method: 'DELETE', headers })).status).toBe(204);
    expect([403, 404]).toContain((await call(`/${area}/${id}`, { method: 'DELETE', headers })).status);
  });

  it('of other members, and read-only ones, cannot be written', async () => {
    const headers = await as('m-1001');
    const theirs = await call('/subscriptions/su-2', { method: 'PATCH', json: { status: 'ended' }, headers });
    expect(theirs.status).toBe(404);
    expect((await call('/members/m-1002', { method: 'DELETE', headers })).status).toBe(403);
    const order = await call('/orders', { method: 'POST', json: {}, headers });
    expect([order.status, order.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('refuse bodies that are too large or not JSON objects', async () => {
    const headers = await as('m-1001');
    const post = async (type: string, body: string) => {
      const init = { method: 'POST', headers: { ...headers, 'content-type': type }, body };
      const response = await fetch(`${school.urls.school}/api/v1/courses`, init);
      const { error } = (await response.json()) as { error: { code: string } };
      return [response.status, error.code];
    };
    expect(await post('application/json', '{"a":')).toEqual([400, 'bad_request']);
    expect(await post('application/json', '[1]')).toEqual([400, 'bad_request']);
    expect(await post('text/plain', 'hello')).toEqual([415, 'unsupported_media_type']);
    expect(await post('application/json', JSON.stringify({ a: 'x'.repeat(66_000) }))).toEqual([
      413,
      'payload_too_large',
    ]);
  });

  it('include files that a member can upload and delete, but not read', async () => {
    const headers = { ...(await as('m-1001')), 'content-type': 'image/png' };
    const at = `${school.urls.school}/api/v1/storage/files/cover.png`;
    expect((await fetch(at, { method: 'PUT', body: 'abc' })).status).toBe(401);
    const stored = await fetch(at, { method: 'PUT', headers, body: 'abc' });
    expect(stored.status).toBe(201);
    expect(await stored.json()).toEqual({
      data: {
        name: 'cover.png',
        size_bytes: 3,
        sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
        content_type: 'image/png',
        created_by: 'm-1001',
        created_at: NOW / 1000,
      },
    });
    expect((await fetch(at, { headers })).status).toBe(405);
    expect((await fetch(at, { method: 'POST', headers, body: Buffer.alloc(1024 * 1024 + 1) })).status).toBe(413);
    expect((await fetch(at, { method: 'DELETE', headers: await as('m-1002') })).status).toBe(404);
    expect((await fetch(at, { method: 'DELETE', headers })).status).toBe(204);
  });
});
