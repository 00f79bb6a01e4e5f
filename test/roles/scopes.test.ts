import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { type App, authorizationRequest, bearer, introspect, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { offeredScopes, reachConsent } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { ROLES_KEY, type RolesSchool, rolesFrom, sam, startRolesSchool } from './roles-school.ts';

const HOUR = 3_600_000;
const SCOPE = 'openid account:read courses:write';

let world: World;
let school: RolesSchool;
let app: App;
let folder: string;
let now = Date.now();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-role-scopes-'));
  school = await startRolesSchool();
  const { upstreams, roles } = rolesFrom(school);
  world = await startWorld({
    profile: 'A',
    clock: () => Date.now(),
    environment: { ROLES_KEY, COMMANDS: COMMAND_SECRET },
    log: createLog('info', openSync(join(folder, 'log'), 'w')),
    overrides: {
      upstreams,
      roles,
      admin: { hmac: { secret: { env: 'COMMANDS' } } },
      tokens: { access: '1h' },
      scopes: {
        'courses:write': { role: 'instructor of any course' },
        'students:read': { role: ['admin', 'assistant of any course', 'grader of any course'] },
        'members:read': { role: 'admin' },
      },
    },
  });
  app = await registerApp(world.origin);
});
afterAll(async () => {
  await world.close();
  await school.upstream.close();
  rmSync(folder, { recursive: true });
});
const taught = {
  courses: { algebra: 'instructor', botany: ['student', 'instructor'], chess: 'instructor', dance: 'student' },
};
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  now += 2 * HOUR;
  vi.setSystemTime(now);
  school.recover();
  school.records.clear();
  school.records.set(sam, taught);
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const start = async (scope = SCOPE) => (await connect(app, { parameters: { scope } })) as unknown as Tokens;
const refreshed = (of: Tokens) => token(app, refreshForm(app, of.refresh_token));
const consent = async (scope = SCOPE, more: Record<string, string> = {}) =>
  reachConsent((await authorizationRequest(app, { scope, ...more })).url);
const write = async (of: Pick<Tokens, 'access_token'>) => {
  const response = await fetch(`${world.origin}/api/v1/courses/x`, {
    method: 'POST',
    headers: bearer(of.access_token),
  });
  await response.arrayBuffer();
  return { status: response.status, challenge: response.headers.get('www-authenticate') };
};
const lines = (action: string) =>
  readFileSync(join(folder, 'log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"${action}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('a scope that needs a role', () => {
  it.each([
    ['en', 'in the 3 courses you teach'],
    ['es', 'en los 3 cursos que impartes'],
    ['de', 'in den 3 Kursen, die Sie unterrichten'],
    ['fr', 'dans les 3 cours que vous enseignez'],
    ['ar', 'في 3 دورات تدرّسها'],
  ])('says on the consent page in %s where it applies', async (language, text) => {
    const { page } = await consent(SCOPE, { ui_locales: language });
    expect(page.text.replace(/<\/?bdi>/g, '')).toContain(`<small>${text}</small>`);
    expect(page.text.match(/<small>/g)).toHaveLength(1 + page.text.split('scope always').length - 1);
  });

  it('says which role, if it has no words of its own', async () => {
    school.records.set(sam, { courses: { algebra: ['assistant', 'grader'], botany: 'assistant', chess: 'student' } });
    const { page } = await consent('openid students:read');
    expect(page.text.replace(/<\/?bdi>/g, '')).toContain('in the 2 courses where your role is assistant / grader');
    school.records.set(sam, { courses: { algebra: 'grader' } });
    pass(61_000);
    const one = await consent('openid students:read');
    expect(one.page.text.replace(/<\/?bdi>/g, '')).toContain('in the course where your role is grader');
  });

  it('says nothing more to a member who has the role at the school', async () => {
    school.records.set(sam, { school: 'admin', courses: { algebra: 'assistant' } });
    const { page } = await consent('openid students:read members:read');
    expect(offeredScopes(page).toSorted()).toEqual(['members:read', 'students:read']);
    expect(page.text).not.toMatch(/courses? (you teach|where your role)/);
  });

  it('is neither offered nor granted to a member without it, even if the form asks for it', async () => {
    school.records.set(sam, { courses: { algebra: 'student' } });
    const { browser, page } = await consent();
    expect(offeredScopes(page)).toEqual(['account:read']);
    expect(page.text).not.toContain('courses:write');
    const request = await authorizationRequest(app, { scope: SCOPE });
    const again = await browser.open(request.url);
    const last = await browser.submit(
      again,
      { decision: 'approve', scope: ['account:read', 'courses:write'], held: ['courses:write'] },
      (location) => !location.startsWith(app.redirectUri),
    );
    const code = new URL(last.location ?? '').searchParams.get('code') ?? '';
    const { status, body } = await token(app, {
      grant_type: 'authorization_code',
      client_id: app.client.client_id,
      code,
      redirect_uri: app.redirectUri,
      code_verifier: request.verifier,
      resource: app.resource,
    });
    expect({ status, scope: body.scope }).toEqual({ status: 200, scope: 'openid account:read' });
    // The role comes later: it was not approved, so the token still does not have it.
    school.records.set(sam, taught);
    pass(61_000);
    expect((await write(body)).status).toBe(403);
    expect((await refreshed(body)).body.scope).toBe('openid account:read');
  });

  it('sends a member back to an app that asks for nothing else', async () => {
    school.records.set(sam, {});
    const request = await authorizationRequest(app, { scope: 'courses:write' });
    const { browser } = await consent();
    const page = await browser.open(request.url, (location) => !location.startsWith(app.redirectUri));
    const { searchParams } = new URL(page.location ?? '');
    expect([searchParams.get('error'), searchParams.get('error_description')]).toEqual([
      'invalid_scope',
      'the member does not have a role that these scopes need',
    ]);
  });

  it('is lost with the role: within a minute, in introspection, and at the refresh, with a line in the audit', async () => {
    const first = await start();
    expect(first.scope).toBe(SCOPE);
    expect((await write(first)).status).not.toBe(403);
    school.records.set(sam, { courses: { algebra: 'student' } });
    pass(61_000);
    expect(await write(first)).toEqual({ status: 403, challenge: expect.stringContaining('insufficient_scope') });
    expect(await introspect(app, first.access_token)).toMatchObject({ active: true, scope: 'openid account:read' });
    const before = lines('token_refreshed').length;
    const second = await refreshed(first);
    expect(second.body.scope).toBe('openid account:read');
    expect(lines('token_refreshed').slice(before)).toEqual([
      expect.objectContaining({ 'event.reason': 'role', 'user.id': sam, 'oauth.client_id': app.client.client_id }),
    ]);
    expect((await write(second.body)).status).toBe(403);
    // Nothing else of the connection ends, and the role brings back what the member has approved.
    expect(await statusOf(world.origin, second.body.access_token)).toBe(200);
    school.records.set(sam, taught);
    const third = await refreshed(second.body);
    expect(third.body.scope).toBe(SCOPE);
    expect(lines('token_refreshed').at(-1)?.['event.reason']).toBeUndefined();
  });

  it('is asked for at every refresh, however fresh the last answer is', async () => {
    const first = await start();
    const before = school.asked().length;
    const second = await refreshed(first);
    expect(school.asked().length).toBe(before + 1);
    school.records.set(sam, {});
    expect((await refreshed(second.body)).body.scope).toBe('openid account:read');
  });

  it('is not asked for at the refresh of a grant without it', async () => {
    const first = await start('openid account:read');
    const before = school.asked().length;
    expect((await refreshed(first)).status).toBe(200);
    expect(school.asked().length).toBe(before);
  });

  it('fails with 503 while roles cannot be read, and no token is lost', async () => {
    const first = await start();
    const plain = await start('openid account:read');
    school.upstream.script((_, response) => void response.writeHead(500).end());
    pass(61_000);
    expect(await write(first)).toEqual({ status: 503, challenge: null });
    const { status, body } = await refreshed(first);
    expect({ status, error: body.error }).toEqual({ status: 503, error: 'temporarily_unavailable' });
    expect((await consent()).page.status).toBe(503);
    expect(await statusOf(world.origin, plain.access_token)).toBe(200);
    school.recover();
    expect((await refreshed(first)).body.scope).toBe(SCOPE);
  });

  it('is asked for again after a command that ends the member', async () => {
    await start();
    const before = school.asked().length;
    await start();
    expect(school.asked().length).toBe(before);
    expect((await command(world.admin, `/members/${sam}/revoke`)).status).toBe(200);
    await start();
    expect(school.asked().length).toBe(before + 1);
  });
});
