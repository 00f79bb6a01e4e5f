import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { type App, authorizationRequest, registerApp } from '../support/app.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { OLU, reachConsent, SAM } from '../support/member.ts';
import { type MemberRegistry, REGISTRY_KEY, startMemberRegistry } from '../support/member-registry.ts';
import type { Script } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const HOUR = 3600_000;

/** The IDs of SAM and OLU. */
const [sam, olu] = ['m-1001', 'm-1002'];

describe('a member who is rechecked when an app refreshes', () => {
  let registry: MemberRegistry;
  let world: World;
  let app: App;
  let other: App;
  let folder: string;
  let descriptor: number;

  const recheck = {
    upstream: 'registry',
    path: '/internal/members/{member.id}',
    key: { header: 'X-Service-Key', secret: { env: 'REGISTRY_KEY' } },
    active: '/active',
    version: '/version',
  };
  /** `timeout`: seconds for one answer of the backend. */
  const settings = (more: Record<string, unknown> = {}, timeout = 30) => ({
    upstreams: { registry: { url: registry.upstream.url, timeout: '10m', breaker: { failures: 0 } } },
    login: { recheck: { ...recheck, ...more } },
    constants: { login: { recheck: { timeout } } },
  });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-recheck-'));
    descriptor = openSync(join(folder, 'log'), 'a');
    registry = await startMemberRegistry();
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now(),
      log: createLog('info', descriptor),
      environment: { REGISTRY_KEY },
      overrides: settings(),
    });
    app = await registerApp(world.origin);
    other = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await registry.upstream.close();
    closeSync(descriptor);
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
    registry.recover();
    registry.records.clear();
    for (const id of [sam, olu]) registry.records.set(id, { active: true, version: 'v1' });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
  const start = async (of = app, member: { login: string; password: string } = SAM) =>
    (await connect(of, { member })) as unknown as Tokens;
  const refreshed = (of: App, refreshToken: string) => token(of, refreshForm(of, refreshToken));
  const events = () =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('member_changed'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('is looked up by ID, with the key, and once an hour for all apps together', async () => {
    const [one, two] = [await start(app), await start(other)];
    const before = registry.asked().length;
    const first = await refreshed(app, one.refresh_token);
    expect(first.status).toBe(200);
    expect(registry.asked().length).toBe(before);
    pass(HOUR + 1000);
    const second = await refreshed(app, first.body.refresh_token);
    expect(second.status).toBe(200);
    expect(registry.asked().slice(before)).toEqual([`/internal/members/${sam}`]);
    const { method, values } = registry.upstream.last();
    expect({ method, key: values('x-service-key') }).toEqual({ method: 'GET', key: [REGISTRY_KEY] });
    expect(values('cookie')).toEqual([]);
    expect((await refreshed(other, two.refresh_token)).status).toBe(200);
    expect(registry.asked().length).toBe(before + 1);
    pass(HOUR - 2000);
    const third = await refreshed(app, second.body.refresh_token);
    expect(third.status).toBe(200);
    expect(registry.asked().length).toBe(before + 1);
    pass(3000);
    expect((await refreshed(app, third.body.refresh_token)).status).toBe(200);
    expect(registry.asked().length).toBe(before + 2);
  });

  it('is rechecked when the gate’s clock was set back', async () => {
    const { refresh_token } = await start(app);
    const before = registry.asked().length;
    pass(-24 * HOUR);
    expect((await refreshed(app, refresh_token)).status).toBe(200);
    expect(registry.asked().length).toBe(before + 1);
  });

  it.each<[string, string, () => void]>([
    ['is gone, 404', 'member_gone', () => void registry.records.delete(sam)],
    [
      'is gone, 410',
      'member_gone',
      () => registry.upstream.script((_, response) => void response.writeHead(410).end()),
    ],
    ['is suspended, false', 'member_inactive', () => void registry.records.set(sam, { active: false, version: 'v1' })],
    ['is suspended, 0', 'member_inactive', () => void registry.records.set(sam, { active: 0, version: 'v1' })],
    ['has changed', 'version_changed', () => void registry.records.set(sam, { active: true, version: 'v2' })],
  ])('who %s loses every connection, and no other member does', async (_name, reason, change) => {
    const [one, two] = [await start(app), await start(other)];
    const theirs = await start(app, OLU);
    pass(HOUR + 1000);
    const told = events().length;
    const fresh = await refreshed(app, theirs.refresh_token);
    change();
    const { status, body } = await refreshed(app, one.refresh_token);
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' });
    expect(body.error_description).toContain('the member must approve again');
    expect(await refreshed(other, two.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, two.access_token)).toBe(401);
    registry.recover();
    expect(await statusOf(world.origin, fresh.body.access_token)).toBe(200);
    expect((await refreshed(app, fresh.body.refresh_token)).status).toBe(200);
    // Grants of earlier tests ended together with these, or had ended before.
    const [event, ...more] = events().slice(told);
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      'event.reason': reason,
      'user.id': sam,
      'oauth.client_id': app.client.client_id,
      'http.request.id': expect.stringMatching(/\S/),
    });
    expect(Number(event?.['oauth.grants_ended'])).toBeGreaterThanOrEqual(2);
  });

  it('who has changed can approve again', async () => {
    await start(app);
    registry.records.set(sam, { active: true, version: 'v3' });
    const again = await start(app);
    pass(HOUR + 1000);
    expect((await refreshed(app, again.refresh_token)).status).toBe(200);
  });

  it('who had changed before the approval is noticed when they change again', async () => {
    registry.records.set(sam, { active: true, version: 'v4' });
    const one = await start(app);
    registry.records.set(sam, { active: true, version: 'v5' });
    pass(HOUR + 1000);
    expect(await refreshed(app, one.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  const json =
    (status: number, body: string, headers: Record<string, string> = {}): Script =>
    (_, response) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body);
    };

  it.each<[string, Script]>([
    ['fails', json(500, '')],
    ['is overloaded', json(429, '')],
    ['does not know our key', json(401, '')],
    ['forbids it', json(403, '{"active":false}')],
    ['redirects', json(302, '', { location: '/login' })],
    ['responds with an HTML page', json(200, '<html>')],
    ['responds with nothing', json(200, '{}')],
    ['responds with neither true nor false', json(200, '{"active":"maybe","version":"v1"}')],
    ['responds with null', json(200, '{"active":null,"version":"v1"}')],
    ['has no version', json(200, '{"active":true}')],
    ['has an invalid version', json(200, '{"active":true,"version":{"a":1}}')],
    ['closes the connection', (_, response) => void response.destroy()],
    [
      'closes the connection halfway',
      (_, response) =>
        void response.writeHead(200, { 'content-length': '99' }).write('{"active":false', () => response.destroy()),
    ],
  ])('with a backend that %s gets 503, and keeps a valid token', async (_name, script) => {
    const { refresh_token, access_token } = await start(app);
    pass(HOUR + 1000);
    registry.upstream.script(script);
    const answer = await refreshed(app, refresh_token);
    expect({ status: answer.status, error: answer.body.error }).toEqual({
      status: 503,
      error: 'temporarily_unavailable',
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(JSON.stringify(answer.body)).not.toMatch(/127\.0\.0\.1|active|version|internal/);
    registry.recover();
    expect((await refreshed(app, refresh_token)).status).toBe(200);
    expect(typeof access_token).toBe('string');
  });

  it('is looked up once for concurrent refreshes', async () => {
    const connections = await Promise.all([start(app), start(app), start(other), start(other)]);
    pass(HOUR + 1000);
    const before = registry.asked().length;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    registry.upstream.script(async (_, response) => {
      await held;
      response.writeHead(200).end('{"active":true,"version":"v1"}');
    });
    const apps = [app, app, other, other];
    const answers = connections.map(({ refresh_token }, at) => refreshed(apps[at] ?? app, refresh_token));
    await vi.waitFor(() => expect(registry.asked().length).toBe(before + 1), { timeout: 20_000 });
    release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    // A request after the response finds it cached, so the registry was asked only once.
    expect(registry.asked().length).toBe(before + 1);
  });

  it('who is suspended sees a page that says so when they connect an app', async () => {
    registry.records.set(sam, { active: false, version: 'v1' });
    const { page } = await reachConsent((await authorizationRequest(app, { ui_locales: 'es' })).url);
    expect(page.status).toBe(403);
    expect(page.text).toContain('<main id="error">');
    expect(page.text).toContain('esta cuenta está cerrada o suspendida');
    registry.upstream.script(json(500, ''));
    const ill = await reachConsent((await authorizationRequest(app)).url);
    expect(ill.page.status).toBe(503);
  });

  describe('with other settings', () => {
    afterAll(() => world.restart(settings()));

    it('is not waited for longer than configured when the backend never answers', async () => {
      const { refresh_token } = await start(app);
      await world.restart(settings({}, 0.2));
      pass(HOUR + 1000);
      registry.upstream.script(() => {});
      const answer = await refreshed(app, refresh_token);
      expect({ status: answer.status, error: answer.body.error }).toEqual({
        status: 503,
        error: 'temporarily_unavailable',
      });
      registry.recover();
      await world.restart(settings());
      expect((await refreshed(app, refresh_token)).status).toBe(200);
    });

    it('may continue while the backend fails, if so configured, and is rechecked the next time', async () => {
      await world.restart(settings({ unavailable: 'allow' }));
      const { refresh_token } = await start(app);
      pass(HOUR + 1000);
      registry.upstream.script(json(500, ''));
      const first = await refreshed(app, refresh_token);
      expect(first.status).toBe(200);
      registry.recover();
      registry.records.delete(sam);
      expect((await refreshed(app, first.body.refresh_token)).status).toBe(400);
    });

    it('is rechecked at each refresh when the interval is 0s', async () => {
      await world.restart(settings({ interval: '0s' }));
      const { refresh_token } = await start(app);
      const before = registry.asked().length;
      const { body } = await refreshed(app, refresh_token);
      await refreshed(app, body.refresh_token);
      expect(registry.asked().length).toBe(before + 2);
    });
  });
});
