import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser } from '../support/browser.ts';
import { SAM } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, call, tokenOf, toolNames } from './support/mcp.ts';

const PUBLIC = ['search_courses', 'get_course'];
const READING = ['get_my_account', 'list_my_courses', 'continue_watching', 'list_my_orders', 'list_my_events'];

describe('the tools of the demo', () => {
  let world: World;
  let token: string;
  let writer: string;
  let narrow: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    token = await tokenOf(world);
    writer = await tokenOf(world, 'account:read account:write');
    narrow = await tokenOf(world, 'openid');
  });
  afterAll(() => world.close());

  it('are the public ones without a token, in the order of the configuration', async () => {
    expect(await toolNames(world)).toEqual(PUBLIC);
  });

  it('are all of them for a member, with what each needs, whatever the token covers', async () => {
    const lists = await Promise.all(
      [narrow, token, writer].map(async (of) => (await askModern(world, 'tools/list', {}, { token: of })).body.result),
    );
    const [list] = lists;
    expect(lists).toEqual([list, list, list]);
    expect(list).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
    expect(list.tools.map(({ name }: { name: string }) => name)).toEqual([
      ...PUBLIC,
      ...READING,
      'save_playback_position',
      'cancel_event_registration',
    ]);
    expect(list.tools.at(-2)._meta).toEqual({
      securitySchemes: [{ type: 'oauth2', scopes: ['account:read', 'account:write'] }],
    });
  });

  it('give up the place at an event after the member has approved it', async () => {
    const cancel = async () =>
      (await call(world, 'cancel_event_registration', { registrationId: 'r-4' }, { token: writer })).body.result;
    const { url } = (await cancel())._meta['coursegate/approval'];
    const browser = createBrowser();
    const page = await browser.submit(await browser.open(url), SAM);
    for (const text of ['Cancel an event registration', 'Registration', 'r-4']) expect(page.text).toContain(text);
    await browser.submit(page, { decision: 'approve' });
    expect((await cancel()).structuredContent).toMatchObject({ id: 'r-4', status: 'CANCELED' });
    expect((await cancel())._meta['coursegate/approval'].url).toContain('/oauth/apps/approvals/');
  });

  it('search the catalogue and read a course without a sign-in', async () => {
    const search = await call(world, 'search_courses', { query: 'harbour' });
    const [course] = search.body.result.structuredContent.courses;
    expect(search.body.result.structuredContent).toEqual({ courses: [course], total: 1, nextPage: null });
    expect(course).toMatchObject({ slug: 'harbour-navigation', title: 'Harbour Navigation', currency: 'EUR' });
    const read = await call(world, 'get_course', { slug: 'harbour-navigation' });
    expect(read.body.result.structuredContent).toEqual(course);
    expect(JSON.parse(read.body.result.content[0].text)).toEqual(course);
  });

  it('page through the catalogue', async () => {
    const seen = new Set<string>();
    let page: number | null = 1;
    while (page !== null) {
      const { body } = await call(world, 'search_courses', { page });
      for (const { slug } of body.result.structuredContent.courses) seen.add(slug);
      page = body.result.structuredContent.nextPage;
    }
    expect(seen.size).toBe(60);
  });

  it('return a member’s own data', async () => {
    const read = async (name: string, args = {}) => {
      const { body } = await call(world, name, args, { token });
      return body.result.structuredContent;
    };
    expect(await read('get_my_account')).toEqual({ id: 'm-1001', email: 'student@example.com' });
    const first = await read('list_my_courses', { first: 1 });
    expect(first).toMatchObject({ courses: [{ slug: 'harbour-navigation', lifetimeAccess: false }], more: true });
    const second = await read('list_my_courses', { first: 1, after: first.nextCursor });
    expect(second.courses.map(({ slug }: { slug: string }) => slug)).toEqual(['joinery-by-hand']);
    const { courses } = await read('continue_watching');
    expect(courses.length).toBeGreaterThan(3);
    for (const course of courses)
      expect(course).toMatchObject({ lectureId: expect.stringMatching(/^\d+$/), positionSeconds: expect.any(Number) });
    const { orders } = await read('list_my_orders', { first: 2 });
    expect(orders).toHaveLength(2);
    expect(orders[0]).toMatchObject({ number: 'HL-20007', amount: '187.00', currency: 'EUR' });
    const { registrations } = await read('list_my_events');
    expect(registrations[0]).toMatchObject({ status: expect.any(String), event: { title: expect.any(String) } });
  });

  it('save a playback position with the write scope', async () => {
    const args = { courseSlug: 'turning-bowls', lectureId: '4995', positionSeconds: 77 };
    const { body } = await call(world, 'save_playback_position', args, { token: writer });
    expect(body.result.structuredContent).toEqual({ slug: 'turning-bowls', lectureId: '4995', positionSeconds: 77 });
    const watching = await call(world, 'continue_watching', {}, { token });
    expect(watching.body.result.structuredContent.courses).toContainEqual(body.result.structuredContent);
  });

  it('are the same in both eras', async () => {
    const old = await ask(world, 'tools/list', {}, { token });
    const now = await askModern(world, 'tools/list', {}, { token });
    expect(now.body.result.tools).toEqual(old.body.result.tools);
    const called = await askModern(world, 'tools/call', { name: 'get_my_account', arguments: {} }, { token });
    expect(called.body.result.structuredContent.id).toBe('m-1001');
  });
});
