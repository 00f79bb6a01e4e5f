import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { reachConsent } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

describe('a member who comes back from the sign-in page without being signed in', () => {
  let folder: string;
  let world: World;
  let ahead = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-return-'));
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + ahead,
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
      overrides: { login: { cookies: ['schol_session', 'remember_*'] } },
    });
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });
  const lines = () =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('a member came back'));

  /** The page that the member sees after the right password. */
  const signIn = async (cookies: Readonly<Record<string, string>> = {}) => {
    const browser = createBrowser();
    for (const [name, value] of Object.entries(cookies)) browser.cookies.set(name, { value, path: '/' });
    const { url } = await authorizationRequest(await registerApp(world.origin));
    return (await reachConsent(url, undefined, browser)).page;
  };

  it('is logged once a minute, with the names of the cookies that came, and no value', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`many_${n}`, 'canary-in-a-cookie']));
    const page = await signIn({
      ['l'.repeat(200)]: 'canary-in-a-cookie',
      'odd\u009b[31m': 'x',
      theme: 'dark',
      ...many,
    });
    expect(page.text).toContain('<main id="login"');
    await signIn();
    expect(lines()).toHaveLength(1);
    const [line = ''] = lines();
    expect(line).not.toContain('canary');
    const { level, came, configured, msg } = JSON.parse(line);
    expect(level).toBe(40);
    expect(configured).toEqual(['schol_session', 'remember_*']);
    expect(came).toHaveLength(20);
    expect(came.slice(0, 4)).toEqual(['l'.repeat(64), 'odd?[31m'.replace('[', '?'), 'theme', 'many_0']);
    expect(msg).toBe(
      'a member came back from the sign-in page without any of login.cookies: they did not sign in, or the session cookie has another name or does not reach the gate',
    );
    ahead += 61_000;
    await signIn();
    expect(lines()).toHaveLength(2);
    expect(JSON.parse(lines()[1] ?? '').came).toContain('school_session');
  });

  it('is logged as unknown to whoami if a listed cookie came', async () => {
    ahead += 61_000;
    await signIn({ remember_web: 'of-no-one' });
    expect(lines().at(-1)).toContain('with a cookie of login.cookies, but login.whoami names no member');
  });

  it('is not logged on the way to the sign-in page', async () => {
    ahead += 61_000;
    const before = lines().length;
    const { url } = await authorizationRequest(await registerApp(world.origin));
    await createBrowser().open(url);
    expect(lines()).toHaveLength(before);
  });
});
