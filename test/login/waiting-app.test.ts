import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/passwords/password-hash.ts';
import { type AppOptions, authorizationRequest, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { post, type SignInWorld, startSignIn } from './support/sign-in.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-members-'));
let gate: SignInWorld;
beforeAll(async () => {
  const file = join(folder, 'members.yaml');
  writeFileSync(file, `members: [{ id: 7, login: ann, password: '${await hashPassword('right')}' }]\n`);
  gate = await startSignIn(
    { kind: 'directory', file, attempts: { address: 'unlimited' } },
    { overrides: { pages: { apps: { back: '/my/account' } } } },
  );
});
afterAll(async () => {
  await gate.close();
  rmSync(folder, { recursive: true });
});

const arrive = async (options: AppOptions = {}, parameters: Record<string, string> = {}) => {
  const app = await registerApp(gate.world.origin, options);
  const request = await authorizationRequest(app, parameters);
  const browser = createBrowser();
  return { app, request, browser, page: await browser.open(request.url) };
};
const named = (client_name: string) => arrive({ metadata: { client_name } });
const heading = (page: Page) => /<h1>(.*)<\/h1>/.exec(page.text)?.[1];

/** Submits the form that cancels, as a browser does. */
const cancel = async (browser: Browser, page: Page, follow?: (url: string) => boolean) => {
  const text = page.text.slice(page.text.lastIndexOf('<form'));
  return browser.submit({ ...page, text }, { decision: 'deny' }, follow);
};

describe('the sign-in page of an app', () => {
  it('names the app, before and after a wrong password', async () => {
    const { browser, page } = await named('Study Buddy');
    const expected = 'Sign in to <bdi>Harbour Lane School</bdi> to continue to <bdi>Study Buddy</bdi>';
    expect(heading(page)).toBe(expected);
    const again = await post(browser, page, { username: 'ann', password: 'wrong' });
    expect(again.status).toBe(400);
    expect(heading(again)).toBe(expected);
  });

  it('treats the name as text', async () => {
    const { page } = await named('<b>{school}</b> דפי');
    expect(heading(page)).toMatch(/ to continue to <bdi>&lt;b&gt;\{school\}&lt;\/b&gt; דפי<\/bdi>$/);
  });

  it('warns of a name that imitates the school', async () => {
    const { page } = await named('Harbour Lane School – Support');
    expect(heading(page)).toMatch(
      / to continue to an app that calls itself “<bdi>Harbour Lane School – Support<\/bdi>”$/,
    );
    expect(page.text).toMatch(/<p class="notice problem">Don’t be misled by the name/);
  });

  it('names an app without a name as the member’s app', async () => {
    const answer = await fetch(`${gate.world.origin}/api/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"redirect_uris":["https://app.example/callback"],"token_endpoint_auth_method":"none"}',
    });
    const { client_id } = (await answer.json()) as { client_id: string };
    const { page } = await arrive({}, { client_id });
    expect(heading(page)).toMatch(/ to continue to your app$/);
  });

  it('leads back to the app with access_denied, through the interaction', async () => {
    const { app, request, browser, page } = await named('Study Buddy');
    const out = await cancel(browser, page, (url) => !url.startsWith(app.redirectUri));
    const returned = new URL(out.location ?? '');
    expect(`${returned.origin}${returned.pathname}`).toBe(app.redirectUri);
    expect(Object.fromEntries(returned.searchParams)).toEqual({
      error: 'access_denied',
      error_description: 'the member did not approve',
      state: request.state,
      iss: gate.world.origin,
    });
    // Nothing waits any more.
    const gone = await browser.open(page.url);
    expect(heading(gone)).toBe('Sign in to <bdi>Harbour Lane School</bdi>');
    expect(gone.text).not.toContain('Cancel');
  });

  it('cancels while another member is signed in, too', async () => {
    const { app, browser, page } = await named('Study Buddy');
    const consent = await browser.submit(
      { ...page, text: page.text.replace(/<\/form>.*/s, '') },
      {
        username: 'ann',
        password: 'right',
      },
    );
    const [, other = ''] = /href="([^"]*\/switch)"/.exec(consent.text) ?? [];
    const signIn = await browser.open(gate.world.origin + other);
    expect(heading(signIn)).toContain('Study Buddy');
    const out = await cancel(browser, signIn, (url) => !url.startsWith(app.redirectUri));
    expect(new URL(out.location ?? '').searchParams.get('error')).toBe('access_denied');
  });

  it('cannot be cancelled from another site or another browser, and stays as it was', async () => {
    const { browser, page } = await named('Study Buddy');
    const stranger = await cancel(createBrowser(), page);
    expect([stranger.status, stranger.text.includes('<main id="error">')]).toEqual([400, true]);
    const text = page.text.slice(page.text.lastIndexOf('<form'));
    const [, action = ''] = /action="([^"]*)"/.exec(text) ?? [];
    const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(text) ?? [];
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
    const send = (body: Record<string, string>, headers: Record<string, string>) =>
      fetch(gate.world.origin + action, {
        method: 'POST',
        body: new URLSearchParams(body),
        redirect: 'manual',
        headers: { cookie, ...headers },
      });
    expect((await send({ decision: 'deny', csrf }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const forged = await send({ decision: 'deny', csrf: 'A'.repeat(43) }, {});
    expect([forged.status, forged.headers.get('location')]).toEqual([303, action]);
    expect(heading(await browser.open(page.url))).toContain('Study Buddy');
  });

  it('does not send what was typed with the cancellation', async () => {
    const { page } = await named('Study Buddy');
    const [, fields = '', leave = ''] = page.text.split('<form');
    expect(fields).toContain('name="password"');
    expect(fields.slice(fields.indexOf('</form>'))).not.toContain('<input');
    expect([...leave.matchAll(/<input[^>]*name="(\w+)"/g)].map(([, name]) => name)).toEqual(['csrf']);
  });

  it.each(['/oauth/interaction/nothing/return', '/oauth/interaction/nothing', '/oauth/authorize/x'])(
    'names no app for %s, which nothing waits at',
    async (path) => {
      const page = await createBrowser().open(`${gate.world.origin}/oauth/sign-in?return_to=${path}`);
      expect(page.status).toBe(200);
      expect(heading(page)).toBe('Sign in to <bdi>Harbour Lane School</bdi>');
      expect(page.text).not.toMatch(/way-back|Cancel/);
    },
  );
});

describe('the sign-in to the page of connected apps', () => {
  it('says so, and leads back to the configured page of the school', async () => {
    const page = await createBrowser().open(`${gate.world.origin}/oauth/apps`);
    expect(heading(page)).toBe('Sign in to <bdi>Harbour Lane School</bdi>');
    expect(page.text).toContain('To see which apps are connected');
    expect(page.text).toContain('<a class="button" href="/my/account">Back to <bdi>Harbour Lane School</bdi></a>');
    expect(page.text).not.toContain('Cancel');
  });

  it('leads back to the front page of the site if no page is configured', async () => {
    const plain = await startSignIn({ kind: 'directory', file: join(folder, 'members.yaml') });
    try {
      const page = await createBrowser().open(`${plain.world.origin}/oauth/apps`);
      expect(page.text).toContain('<a class="button" href="/">Back to');
    } finally {
      await plain.close();
    }
  });
});
