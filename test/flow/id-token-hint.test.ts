import { randomBytes } from 'node:crypto';
import { decodeJwt, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, postForm, redeem, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { OLU, offeredScopes, reachConsent, SAM, signIn } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

const SAM_ID = 'm-1001';
const OLU_ID = 'm-1002';

/** Milliseconds by which the gate's clock is ahead. */
let ahead = 0;
let world: World;
let app: App;
let hint: string;
beforeAll(async () => {
  world = await startWorld({
    profile: 'A',
    clock: () => Date.now() + ahead,
    environment: { COMMAND_SECRET },
    overrides: { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } },
  });
  // A loopback redirect URI, so that errors are redirected to it from the first request on.
  app = await registerApp(world.origin, {
    redirectUri: 'http://127.0.0.1:5123/callback',
  });
  hint = await idTokenOf(app);
});
afterAll(() => world.close());
beforeEach(() => {
  ahead = 0;
});

const toElsewhere = (location: string) => !location.startsWith(app.redirectUri);

const approve = (browser: Browser, page: Page) =>
  browser.submit(page, { decision: 'approve', scope: offeredScopes(page) }, toElsewhere);

/** An ID token of Sam. */
async function idTokenOf(client: App): Promise<string> {
  const request = await authorizationRequest(client);
  const { browser, page } = await reachConsent(request.url, SAM);
  const last = await browser.submit(
    page,
    { decision: 'approve', scope: offeredScopes(page) },
    (location) => !location.startsWith(client.redirectUri),
  );
  const tokens = await redeem(client, request, new URL(last.location ?? ''));
  expect(decodeJwt(String(tokens.id_token)).sub).toBe(SAM_ID);
  return String(tokens.id_token);
}

/** A request with a hint, in the browser of a member who is signed in at the school. */
const openAs = async (member: typeof SAM | typeof OLU | undefined, parameters: Record<string, string> = {}) => {
  const browser = createBrowser();
  if (member !== undefined) await signIn(browser, world.origin, member);
  const request = await authorizationRequest(app, { id_token_hint: hint, ...parameters });
  return { request, browser, page: await browser.open(request.url, toElsewhere) };
};

const answerOf = ({ location }: Page) =>
  location?.startsWith(app.redirectUri) ? Object.fromEntries(new URL(location).searchParams) : undefined;

const subjectOf = async (request: Awaited<ReturnType<typeof authorizationRequest>>, last: Page) => {
  const tokens = await redeem(app, request, new URL(last.location ?? ''));
  return decodeJwt(String(tokens.id_token)).sub;
};

describe('a request with an id_token_hint', () => {
  it('continues as usual in the browser of that member', async () => {
    const { request, browser, page } = await openAs(SAM);
    expect(page.text).toContain('<main id="consent">');
    expect(await subjectOf(request, await approve(browser, page))).toBe(SAM_ID);
  });

  it('cannot be approved by another member, who sees the expected account’s ID but not its name or email', async () => {
    const { request, browser, page } = await openAs(OLU);
    expect(page.status).toBe(200);
    expect(page.text).toContain('<main id="expected">');
    expect(page.text).toContain('<strong><bdi>other@example.com</bdi></strong>');
    expect(page.text).toContain(SAM_ID);
    expect(page.text).not.toMatch(/student@example\.com|Sam Student/);
    // The page has the CSRF token that an approval needs.
    const approved = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toElsewhere);
    expect(answerOf(approved)).toBeUndefined();
    expect(approved.text).toContain('<main id="expected">');
    const out = await browser.submit(approved, { decision: 'deny' }, toElsewhere);
    expect(answerOf(out)).toEqual({
      error: 'login_required',
      error_description: 'the member who is signed in is not the one that id_token_hint is about',
      state: request.state,
      iss: world.origin,
    });
  });

  it('cannot be approved by another member who has a session at the gate from an earlier approval', async () => {
    const browser = createBrowser();
    await signIn(browser, world.origin, OLU);
    const first = await authorizationRequest(app);
    await approve(browser, await browser.open(first.url, toElsewhere));
    const request = await authorizationRequest(app, { id_token_hint: hint });
    const page = await browser.open(request.url, toElsewhere);
    expect(page.text).toContain('<main id="expected">');
    // The page has the CSRF token that an approval needs.
    const after = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toElsewhere);
    expect(answerOf(after)).toBeUndefined();
    expect(after.text).toContain('<main id="expected">');
    const connected = await browser.open(`${world.origin}/oauth/apps/app?app=${app.client.client_id}`);
    expect(connected.text).toContain('What it can do');
    expect(connected.text).not.toContain('Connected 2 times');
  });

  it('cannot be denied by a form from another site', async () => {
    const { page } = await openAs(OLU);
    const action = new URL(/<form[^>]*action="([^"]*)"/.exec(page.text)?.[1] ?? '', page.url).href;
    const forged = await postForm(action, { decision: 'deny' }, { 'sec-fetch-site': 'cross-site' });
    expect(forged.status).toBe(403);
  });

  it('is checked after a sign-in, and satisfied after a switch of accounts', async () => {
    const { request, browser, page } = await openAs(undefined);
    expect(page.text).toContain('id="school-login"');
    const wrong = await browser.submit(page, { login: OLU.login, password: OLU.password }, toElsewhere);
    expect(wrong.text).toContain('<main id="expected">');
    const href = /<a class="button go" href="([^"]*)"/.exec(wrong.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const school = new URL(href, world.origin);
    expect((await browser.open(school.href)).text).toContain('id="school-login"');
    const back = world.origin + school.searchParams.get('return_to');
    expect((await browser.open(back)).text).toContain('<main id="expected">');
    await signIn(browser, world.origin, SAM);
    const consent = await browser.open(back);
    expect(consent.text).toContain('<main id="consent">');
    expect(await subjectOf(request, await approve(browser, consent))).toBe(SAM_ID);
  });

  it('is checked again when another member signs in before the approval', async () => {
    const { browser, page } = await openAs(SAM);
    expect(page.text).toContain('<main id="consent">');
    await signIn(browser, world.origin, OLU);
    const late = await approve(browser, page);
    expect(answerOf(late)).toBeUndefined();
    expect(late.text).toContain('<main id="expected">');
    const denied = await browser.submit(late, { decision: 'deny' }, toElsewhere);
    expect(answerOf(denied)?.error).toBe('login_required');
  });

  it('is checked for a pushed request too', async () => {
    const { url } = await authorizationRequest(app, { id_token_hint: hint });
    const pushed = await postForm(
      app.server.pushed_authorization_request_endpoint,
      Object.fromEntries(new URL(url).searchParams),
    );
    const { request_uri } = (await pushed.json()) as { request_uri: string };
    const at = new URL(app.server.authorization_endpoint ?? '');
    at.search = new URLSearchParams({ client_id: app.client.client_id, request_uri }).toString();
    const browser = createBrowser();
    await signIn(browser, world.origin, OLU);
    expect((await browser.open(at.href, toElsewhere)).text).toContain('<main id="expected">');
  });

  it('returns login_required with prompt=none, regardless of who is signed in', async () => {
    for (const member of [SAM, OLU, undefined]) {
      const { request, page } = await openAs(member, { prompt: 'none' });
      expect(answerOf(page)).toEqual({
        error: 'login_required',
        error_description: expect.stringMatching(/\w/),
        state: request.state,
        iss: world.origin,
      });
    }
  });

  it('accepts an ID token that has expired or was signed by a retired key', async () => {
    expect((await command(world.admin, '/keys/rotate', { body: '{"now":true}' })).status).toBe(200);
    ahead = 3 * 3_600_000;
    expect((await openAs(OLU)).page.text).toContain('<main id="expected">');
    const { request, browser, page } = await openAs(SAM);
    expect(await subjectOf(request, await approve(browser, page))).toBe(SAM_ID);
  });

  it.each<[string, () => Promise<string>]>([
    ['is not a token', async () => 'Sam'],
    ['is unsigned', async () => `${hint.split('.').slice(0, 2).join('.')}.`],
    [
      'is signed with an unknown key',
      async () => {
        const { privateKey } = await generateKeyPair('ES256');
        return new SignJWT(decodeJwt(hint)).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
      },
    ],
    [
      'is signed with the client’s secret',
      async () => new SignJWT(decodeJwt(hint)).setProtectedHeader({ alg: 'HS256' }).sign(randomBytes(32)),
    ],
    ['names another member with the old signature', async () => swapSubject(hint)],
    [
      'was issued to another app',
      async () =>
        idTokenOf(
          await registerApp(world.origin, {
            redirectUri: 'http://127.0.0.1:5124/callback',
          }),
        ),
    ],
  ])('is refused when the hint %s', async (_name, make) => {
    const { request, page } = await openAs(OLU, { id_token_hint: await make() });
    expect(answerOf(page)).toEqual({
      error: 'invalid_request',
      error_description: 'could not validate id_token_hint',
      state: request.state,
      iss: world.origin,
    });
  });
});

function swapSubject(token: string): string {
  const [header, , signature] = token.split('.');
  const payload = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: OLU_ID })).toString('base64url');
  return [header, payload, signature].join('.');
}
