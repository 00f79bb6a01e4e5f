import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { createLog } from '../../src/operations/log.ts';
import { type App, authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { freePort } from '../support/world.ts';
import { type Backend, frameworkPresent, OLU, SAM, startBackend } from './contract/backend.ts';
import { DJANGO } from './contract/frameworks.ts';

/** Django's own example, which asks whoami, and one of those that go over the bridge: they differ in nothing else. */
const EXAMPLES = [
  { login: 'session', example: 'django', overrides: { login: { loginUrl: '/login' } } },
  { login: 'bridge', example: 'rails', overrides: {} },
] as const;
const SECRET = 'between gate and school, 32 or more';
const LONGEST = 120_000;

const present = frameworkPresent(DJANGO) && browserPresent();

describe.skipIf(!present).each(EXAMPLES)('Django behind a gate with the login $login', ({ example, overrides }) => {
  let django: Backend;
  let gate: Gateway;
  let browser: Browser;
  let origin: string;
  let app: App;
  beforeAll(async () => {
    const port = await freePort();
    origin = `http://localhost:${port}`;
    [django, browser] = await Promise.all([
      startBackend(DJANGO, { origin, upstream: example, secret: SECRET, jwksUrl: `${origin}/.well-known/jwks.json` }),
      launchChromium(),
    ]);
    const loaded = await loadConfig({
      file: fileURLToPath(new URL(`../../integrations/${example}/coursegate.yaml`, import.meta.url)),
      environment: { COURSEGATE_BRIDGE_SECRET: SECRET },
      overrides: {
        origin,
        listen: { port, admin: { port: 0 } },
        store: { kind: 'memory' },
        upstreams: { [example]: { url: django.url } },
        ...overrides,
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

  /** A browser window of its own: nobody is signed in there. */
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
  /** From an authorization request over Django's own page and the consent to the app, and to tokens. */
  const connect = (member: { username: string; email: string; password: string }) =>
    visit(async (page) => {
      const request = await authorizationRequest(app, { scope: 'courses:read' });
      await page.goto(request.url);
      await page.locator('main#django-login').waitFor();
      await signIn(page, { ...member, password: 'wrong' });
      await page.locator('.errorlist').waitFor();
      await signIn(page, member);
      await page.locator('main#consent').waitFor();
      expect(await page.locator('main').innerText()).toContain(member.email);
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.waitForURL(`${app.redirectUri}*`);
      return redeem(app, request, new URL(page.url()));
    });
  const courses = async (token: string) => {
    const answer = await fetch(`${origin}/api/courses`, { headers: bearer(token) });
    return { status: answer.status, body: answer.status === 200 ? await answer.json() : undefined };
  };

  it(
    'a member signs in at Django’s own page, and the app reads what is the member’s',
    async () => {
      const tokens = await connect(SAM);
      expect(await courses(tokens.access_token)).toEqual({
        status: 200,
        body: { courses: ['Watercolour'], of: SAM.email, for: app.client.client_id },
      });
      // Of another, though nothing but the token says so.
      const others = await connect(OLU);
      expect((await courses(others.access_token)).body).toMatchObject({ of: OLU.email });
    },
    LONGEST,
  );

  it('nobody reads it without a token, by an assertion of their own, or by the plain headers', async () => {
    for (const headers of [{}, { 'x-member-id': SAM.id }, { 'x-coursegate-assertion': 'a.b.c' }]) {
      expect((await fetch(`${origin}/api/courses`, { headers, redirect: 'manual' })).status).toBe(401);
      const past = await fetch(`${django.url}/api/courses`, { headers, redirect: 'manual' });
      expect([302, 401]).toContain(past.status);
    }
  });
});
