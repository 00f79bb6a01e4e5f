import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { type Backend, OLU, SAM, startBackend } from '../integrations/contract/backend.ts';
import { EXPRESS } from '../integrations/contract/frameworks.ts';
import { type App, authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { offeredScopes } from '../support/member.ts';
import { freePort } from '../support/world.ts';

const SECRET = 'between gate and school, 32 or more';
const LONGEST = 60_000;

describe('pages.origin with the bridge of a drop-in', () => {
  let site: Backend;
  let gate: Gateway;
  let origin: string;
  let pages: string;
  let app: App;
  beforeAll(async () => {
    const port = await freePort();
    [origin, pages] = [`http://localhost:${port}`, `http://127.0.0.1:${port}`];
    const jwksUrl = `${origin}/.well-known/jwks.json`;
    site = await startBackend(EXPRESS, { origin, pagesOrigin: pages, upstream: 'express', secret: SECRET, jwksUrl });
    const loaded = await loadConfig({
      file: fileURLToPath(new URL('../../integrations/express/coursegate.yaml', import.meta.url)),
      environment: { COURSEGATE_BRIDGE_SECRET: SECRET },
      overrides: {
        ...{ origin, pages: { origin: pages }, listen: { port, admin: { port: 0 } }, store: { kind: 'memory' } },
        upstreams: { express: { url: site.url } },
        routes: [{ match: 'GET /api/site/me', rewrite: '/probe', upstream: 'express', scopes: ['courses:read'] }],
      },
    });
    expect(loaded.warnings.map(({ path }) => path)).toEqual(['store.kind']);
    gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
    app = await registerApp(origin, { redirectUri: 'http://127.0.0.1:9/callback' });
  }, LONGEST);
  afterAll(async () => {
    await gate?.close(1);
    await site?.close();
  });

  const asked = () => authorizationRequest(app, { scope: 'openid courses:read' });
  const me = async (token: string) => (await fetch(`${origin}/api/site/me`, { headers: bearer(token) })).json();
  /** Where the gate sends a browser that is signed in nowhere. */
  const bridgeOf = async (browser: ReturnType<typeof createBrowser>, url: string) =>
    (await browser.open(url, (location) => !location.startsWith(`${origin}/coursegate/bridge`))).location ?? '';

  it('gives an app the member who signs in on the site’s page, and takes the answer at the host of the pages', async () => {
    // Two browsers, because one of these has no cookies for each host.
    const [atPages, atSite] = [createBrowser(), createBrowser()];
    const request = await asked();
    const bridge = await bridgeOf(atPages, request.url);
    const payload = Buffer.from(new URL(bridge).searchParams.get('sso') ?? '', 'base64').toString();
    expect(new URLSearchParams(payload).get('return_sso_url')).toBe(`${pages}/oauth/sign-in/callback/bridge`);
    const login = await atSite.open(bridge, (location) => location.startsWith(origin));
    const answered = await atSite.submit(login, SAM, (location) => location.startsWith(origin));
    expect(answered.location).toMatch(`${pages}/oauth/sign-in/callback/bridge?sso=`);
    // Another browser has not begun this sign-in.
    expect((await createBrowser().open(answered.location ?? '')).status).toBe(400);
    const consent = await atPages.open(answered.location ?? '');
    expect(consent.text).toContain('<main id="consent">');
    const fields = { decision: 'approve', scope: offeredScopes(consent) };
    const last = await atPages.submit(consent, fields, (location) => !location.startsWith(app.redirectUri));
    const tokens = await redeem(app, request, new URL(last.location ?? ''));
    expect(await me(tokens.access_token)).toMatchObject({ member: SAM.id, client: app.client.client_id });
  });

  it.skipIf(!browserPresent())(
    'connects an app in Chromium, where neither host gets the cookies of the other, and lets the member switch accounts',
    async () => {
      const browser = await launchChromium();
      try {
        const context = await browser.newContext();
        context.setDefaultTimeout(15_000);
        await context.route(`${app.redirectUri}*`, (route) => route.fulfill({ body: 'connected' }));
        const page = await context.newPage();
        const signIn = async ({ username, password }: typeof SAM | typeof OLU) => {
          await page.waitForURL(`${origin}/login?*`);
          await page.locator('[name=username]').fill(username);
          await page.locator('[name=password]').fill(password);
          await page.locator('button').click();
          await page.locator('main#consent').waitFor();
          expect(new URL(page.url()).origin).toBe(pages);
        };
        const approve = async (request: Awaited<ReturnType<typeof asked>>) => {
          await page.locator('main#consent button[value=approve]').click();
          await page.waitForURL(`${app.redirectUri}*`);
          return me((await redeem(app, request, new URL(page.url()))).access_token);
        };
        const first = await asked();
        await page.goto(first.url);
        await signIn(SAM);
        expect(await approve(first)).toMatchObject({ member: SAM.id });
        const names = async (url: string) => (await context.cookies(url)).map(({ name }) => name);
        expect(await names(`${origin}/oauth/apps`)).toEqual(['sid']);
        expect(await names(`${pages}/oauth/apps`)).toContain('coursegate_member');
        expect(await names(`${pages}/oauth/apps`)).not.toContain('sid');
        // Signed in at the pages: the site is not asked again, until the member is someone else.
        const second = await asked();
        await page.goto(second.url);
        await page.locator('main#consent').waitFor();
        await page.locator('main#consent .account a').click();
        await signIn(OLU);
        expect(await approve(second)).toMatchObject({ member: OLU.id });
      } finally {
        await browser.close();
      }
    },
    LONGEST,
  );
});
