import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { type Browser, createBrowser } from '../support/browser.ts';
import { refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { offeredScopes } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** A school whose whoami returns a version of each member; a cookie names the member. */
describe('the version that whoami returns', () => {
  let upstream: RecordingUpstream;
  let world: World;
  let app: App;
  let other: App;
  const epochs = new Map<string, unknown>();
  beforeAll(async () => {
    upstream = await startRecordingUpstream((request, response) => {
      const [, id = ''] = /school_session=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
      const known = request.url === '/api/me' && epochs.has(id);
      response.writeHead(request.url !== '/api/me' || known ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id, email: `${id}@school.example`, epoch: epochs.get(id) }));
    });
    world = await startWorld({
      profile: 'A',
      overrides: { upstreams: { school: { url: upstream.url } }, login: { whoami: { version: '/epoch' } } },
    });
    app = await registerApp(world.origin);
    other = await registerApp(world.origin);
  });
  afterAll(() => Promise.all([world.close(), upstream.close()]));
  beforeEach(() => {
    epochs.set('ann', 1).set('bob', 'first');
  });

  const browserOf = (id: string): Browser => {
    const browser = createBrowser();
    browser.cookies.set('school_session', { value: id, path: '/' });
    return browser;
  };
  const consent = async (of: App, id: string) => {
    const request = await authorizationRequest(of);
    const browser = browserOf(id);
    return { of, request, browser, page: await browser.open(request.url) };
  };
  const approve = async ({ of, request, browser, page }: Awaited<ReturnType<typeof consent>>) => {
    expect(page.text).toContain('<main id="consent">');
    const elsewhere = (location: string) => !location.startsWith(of.redirectUri);
    const last = await browser.submit(page, { decision: 'approve', scope: offeredScopes(page) }, elsewhere);
    return (await redeem(of, request, new URL(last.location ?? ''))) as unknown as Tokens;
  };
  const connected = async (of: App, id: string) => approve(await consent(of, id));
  const refreshed = async (of: App, { refresh_token }: Tokens) =>
    (await token(of, refreshForm(of, refresh_token))).body.error ?? 'refreshed';

  it('ends every grant of that member at once when it changes, and no other member’s', async () => {
    const [one, two, theirs] = [
      await connected(app, 'ann'),
      await connected(other, 'ann'),
      await connected(app, 'bob'),
    ];
    expect(await statusOf(world.origin, one.access_token)).toBe(200);
    epochs.set('ann', 2);
    // It is enough that the gate sees the new version: nothing has to be approved.
    await consent(other, 'ann');
    for (const { access_token } of [one, two]) expect(await statusOf(world.origin, access_token)).toBe(401);
    expect(await refreshed(app, one)).toBe('invalid_grant');
    expect(await refreshed(other, two)).toBe('invalid_grant');
    expect(await statusOf(world.origin, theirs.access_token)).toBe(200);
    expect(await refreshed(app, theirs)).toBe('refreshed');
  });

  it('is asked for with the member’s address', async () => {
    await consent(app, 'ann');
    const asked = upstream.requests.filter(({ target }) => target === '/api/me');
    expect(asked.at(-1)?.values('x-forwarded-for')).toEqual(['127.0.0.1']);
  });

  it('ends nothing while it stays the same', async () => {
    const one = await connected(app, 'ann');
    const two = await connected(other, 'ann');
    await consent(app, 'ann');
    expect(await refreshed(app, one)).toBe('refreshed');
    expect(await refreshed(other, two)).toBe('refreshed');
  });

  it('ends earlier grants, but not the new one, when it changes between the consent page and the approval', async () => {
    const before = await connected(app, 'ann');
    const open = await consent(other, 'ann');
    epochs.set('ann', 3);
    const after = await approve(open);
    expect(await refreshed(app, before)).toBe('invalid_grant');
    expect(await refreshed(other, after)).toBe('refreshed');
  });

  it('is remembered over a restart', async () => {
    epochs.set('ann', 10);
    const one = await connected(app, 'ann');
    await world.restart();
    epochs.set('ann', 11);
    await consent(app, 'ann');
    expect(await refreshed(app, one)).toBe('invalid_grant');
  });

  it('causes a 503 that ends nothing when it is missing', async () => {
    const one = await connected(app, 'bob');
    epochs.set('bob', undefined);
    expect((await consent(app, 'bob')).page.status).toBe(503);
    epochs.set('bob', 'first');
    expect(await refreshed(app, one)).toBe('refreshed');
  });

  it('is the same as a number and as text', async () => {
    epochs.set('ann', 20);
    const one = await connected(app, 'ann');
    epochs.set('ann', '20');
    await consent(app, 'ann');
    expect(await refreshed(app, one)).toBe('refreshed');
  });
});
