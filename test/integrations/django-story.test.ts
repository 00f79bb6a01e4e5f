import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { type App, authorizationRequest, bearer, introspect, redeem, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { refreshForm, type Tokens, token } from '../support/connection.ts';
import { freePort } from '../support/world.ts';
import { type Backend, frameworkPresent, OLU, SAM, startBackend } from './contract/backend.ts';
import { DJANGO } from './contract/frameworks.ts';

/** Django's own example with whoami, and a variant with the bridge. They differ in nothing else. */
const EXAMPLES = [
  { login: 'session', example: 'django', overrides: { loginUrl: '/sign-in' }, told: true },
  { login: 'bridge', example: 'rails', overrides: {}, told: false },
] as const;
const MEMBER_KEY = 'm'.repeat(32);
const SECRET = 'between gate and school, 32 or more';
const LONGEST = 240_000;
/** The tests of one site follow one another, while those of the other run. */
const IN_TURN = { concurrent: false, timeout: LONGEST };

const present = frameworkPresent(DJANGO) && browserPresent();

describe.skipIf(!present).concurrent.each(EXAMPLES)(
  'Django behind a gate with login $login',
  ({ example, overrides, told }) => {
    let django: Backend;
    let gate: Gateway;
    let browser: Browser;
    let origin: string;
    let app: App;
    beforeAll(async () => {
      const [port, adminPort] = [await freePort(), await freePort()];
      origin = `http://localhost:${port}`;
      [django, browser] = await Promise.all([
        startBackend(DJANGO, {
          origin,
          upstream: example,
          secret: SECRET,
          jwksUrl: `${origin}/.well-known/jwks.json`,
          memberKey: MEMBER_KEY,
          // Without the admin URL, only `recheck` detects the change.
          ...(told ? { admin: `http://127.0.0.1:${adminPort}`, adminSecret: COMMAND_SECRET } : {}),
        }),
        launchChromium(),
      ]);
      const loaded = await loadConfig({
        file: fileURLToPath(new URL(`../../integrations/${example}/coursegate.yaml`, import.meta.url)),
        environment: {
          COURSEGATE_BRIDGE_SECRET: SECRET,
          COURSEGATE_ADMIN_SECRET: COMMAND_SECRET,
          COURSEGATE_KEY: MEMBER_KEY,
        },
        overrides: {
          origin,
          listen: { port, admin: { port: adminPort } },
          admin: { hmac: { secret: { env: 'COURSEGATE_ADMIN_SECRET' } } },
          store: { kind: 'memory' },
          upstreams: { [example]: { url: django.url } },
          login: {
            ...overrides,
            recheck: {
              upstream: example,
              path: '/coursegate/members/{member.id}',
              key: { header: 'Coursegate-Key', secret: { env: 'COURSEGATE_KEY' } },
              active: '/active',
              version: '/version',
              interval: '0s',
            },
          },
        },
      });
      gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
      app = await registerApp(origin, { redirectUri: 'https://app.example/callback' });
    }, LONGEST);
    afterAll(async () => {
      await gate?.close(1);
      await browser?.close();
      await django?.close();
    });

    /** A new browser context, without a signed-in member. */
    const visit = async <T>(story: (page: Page) => Promise<T>): Promise<T> => {
      const context = await browser.newContext();
      context.setDefaultTimeout(30_000);
      try {
        const page = await context.newPage();
        await page.route(`${app.redirectUri}*`, (route) => route.fulfill({ body: 'connected' }));
        return await story(page);
      } finally {
        await context.close();
      }
    };
    const signIn = async (page: Page, { username, password }: { username: string; password: string }) => {
      await page.locator('#id_username').fill(username);
      await page.locator('#id_password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    /** Goes from an authorization request through Django's login and consent to tokens. The password may be mistyped at first. */
    const connect = (member: { username: string; email: string; password: string }, { mistyped = false } = {}) =>
      visit(async (page) => {
        const request = await authorizationRequest(app, { scope: 'courses:read' });
        await page.goto(request.url);
        await page.locator('main#django-login').waitFor();
        if (mistyped) {
          await signIn(page, { ...member, password: 'wrong' });
          await page.locator('.errorlist').waitFor();
        }
        await signIn(page, member);
        await page.locator('main#consent').waitFor();
        expect(await page.locator('main').innerText()).toContain(member.email);
        await page.getByRole('button', { name: 'Approve', exact: true }).click();
        await page.waitForURL(`${app.redirectUri}*`);
        return redeem(app, request, new URL(page.url()));
      });
    const courses = async (token: string) => {
      const answer = await fetch(`${origin}/api/site/courses`, { headers: bearer(token) });
      return { status: answer.status, body: answer.status === 200 ? await answer.json() : undefined };
    };

    it('a member signs in on Django’s own page, and the app reads that member’s data', IN_TURN, async () => {
      const [tokens, others] = await Promise.all([connect(SAM, { mistyped: true }), connect(OLU)]);
      expect(await courses(tokens.access_token)).toEqual({
        status: 200,
        body: { courses: ['Watercolour'], of: SAM.email, for: app.client.client_id },
      });
      // Another member's data, with nothing but another token.
      expect((await courses(others.access_token)).body).toMatchObject({ of: OLU.email });
    });

    it('an app that requests a new sign-in gets one: the member enters the password again, once', IN_TURN, async () => {
      await visit(async (page) => {
        await page.goto(`${origin}/login`);
        await signIn(page, SAM);
        await page.waitForURL('**/probe');
        // `auth_time` is in whole seconds, and Django has a clock of its own.
        const seconds = () => Math.floor(Date.now() / 1000);
        const asked = seconds() + 1;
        await vi.waitUntil(() => seconds() >= asked, { timeout: 30_000 });
        const wish = { scope: 'openid courses:read', prompt: 'login', max_age: '60' };
        const request = await authorizationRequest(app, wish);
        await page.goto(request.url);
        await page.locator('main#django-login').waitFor();
        await signIn(page, SAM);
        await page.getByRole('button', { name: 'Approve', exact: true }).click();
        await page.waitForURL(`${app.redirectUri}*`);
        const tokens = await redeem(app, request, new URL(page.url()));
        expect((await introspect(app, tokens.access_token)).auth_time).toBeGreaterThanOrEqual(asked);
      });
    });

    it('returns 401 without a token, with a forged assertion, and with plain identity headers', IN_TURN, async () => {
      for (const headers of [{}, { 'x-member-id': SAM.id }, { 'x-coursegate-assertion': 'a.b.c' }]) {
        expect((await fetch(`${origin}/api/site/courses`, { headers, redirect: 'manual' })).status).toBe(401);
        const past = await fetch(`${django.url}/api/courses`, { headers, redirect: 'manual' });
        expect([302, 401]).toContain(past.status);
      }
    });

    it('reports whether a member is active, only to callers with the key', IN_TURN, async () => {
      const ask = (id: string, key: Record<string, string>) =>
        fetch(`${django.url}/coursegate/members/${id}`, { headers: key });
      for (const key of [
        {},
        { 'coursegate-key': '' },
        { 'coursegate-key': `${MEMBER_KEY}x` },
        { 'coursegate-key': 'é' },
      ]) {
        expect((await ask(SAM.id, key)).status).toBe(401);
      }
      const key = { 'coursegate-key': MEMBER_KEY };
      const sam = await ask(SAM.id, key);
      expect([sam.status, await sam.json()]).toEqual([
        200,
        { active: true, version: expect.stringMatching(/^\w{32}$/) },
      ]);
      expect(sam.headers.get('cache-control')).toContain('no-store');
      for (const id of ['99', '0', '01', 'x', 'a%2Fb', '%201']) {
        const answer = await ask(id, key);
        expect([id, answer.status, await answer.json()]).toEqual([id, 200, { active: false }]);
      }
    });

    it(
      `refuses an app ${told ? 'on its next request' : 'when it refreshes its token'} after the member changes the password`,
      IN_TURN,
      async () => {
        const [tokens, others] = (await Promise.all([connect(SAM), connect(OLU)])) as unknown as [Tokens, Tokens];
        expect((await courses(tokens.access_token)).status).toBe(200);
        const fresh = 'another horse altogether';
        await visit(async (page) => {
          await page.goto(`${django.url}/login?next=/password`);
          await signIn(page, SAM);
          await page.locator('[name=old_password]').fill(SAM.password);
          await page.locator('[name=new_password1]').fill(fresh);
          await page.locator('[name=new_password2]').fill(fresh);
          await page.locator('button').click();
          await page.waitForURL('**/probe');
        });
        // The event is sent before the browser gets its response, so the next request is refused.
        expect((await courses(tokens.access_token)).status).toBe(told ? 401 : 200);
        const renewed = await token(app, refreshForm(app, tokens.refresh_token));
        expect([renewed.status, renewed.body.error]).toEqual([400, 'invalid_grant']);
        expect((await courses(tokens.access_token)).status).toBe(401);
        // Other members keep their access.
        expect((await courses(others.access_token)).status).toBe(200);
        expect((await token(app, refreshForm(app, others.refresh_token))).status).toBe(200);
        // The member can connect again with the new password.
        const again = await connect({ ...SAM, password: fresh });
        expect((await courses(again.access_token)).status).toBe(200);
      },
    );
  },
);
