import type { Page } from 'playwright-core';
import type { Look } from '../../../support/album.ts';
import { type App, authorizationRequest, redeem, registerApp } from '../../../support/app.ts';
import { createBrowser } from '../../../support/browser.ts';
import { SCOPES } from '../../../support/catalogue.ts';
import { command } from '../../../support/commands.ts';
import { tabTo } from '../../../support/keyboard.ts';
import { approve } from '../../../support/member.ts';
import { answerJson, type DocumentHost, plainDocument } from '../../client-documents/support/document-host.ts';

/** What the school says of the member. */
export interface SignedIn {
  id: string;
  email: string;
  since: number | undefined;
  /** Whether the school answers with a failure instead. */
  failing?: boolean;
}

/** Where the pages are served. The browser is signed in at the school. */
interface Place {
  readonly origin: string;
  readonly host: DocumentHost;
  /** The admin listener, which takes commands. The member who is signed in is m-1. */
  readonly admin: string;
  readonly member: SignedIn;
}

const EVERYTHING = 'openid profile email account:read courses:read courses:write students:write';

/** Every page of the gate in each of its states, with names that stress the layout. */
export async function gatePages(page: Page, place: Place, look: Look): Promise<void> {
  const plain = await registerApp(place.origin, { metadata: { client_name: 'Study Buddy' } });
  await consents(page, place, look, plain);
  await signIns(page, place, look, plain);
  await obstacles(page, place, look, plain);
  await approvals(page, place, look, plain);
  await suspended(page, place, look, plain);
  await refusals(page, place, look, plain);
  await failure(page, place, look, plain);
}

async function consents(page: Page, place: Place, look: Look, plain: App): Promise<void> {
  const { origin, host } = place;
  const named = (client_name: string, metadata: Record<string, string> = {}) =>
    registerApp(origin, { metadata: { client_name, ...metadata } });
  const published = (name: string, redirectUri: string): App => {
    const url = `https://claude.ai/oauth/${encodeURIComponent(redirectUri)}`;
    host.serve(url, answerJson(plainDocument(url, { client_name: name, redirect_uris: [redirectUri] })));
    return { ...plain, client: { client_id: url }, redirectUri };
  };
  const links = { policy_uri: 'https://app.example/privacy', tos_uri: 'https://xn--bcher-kva.example/terms' };
  const apps: readonly (readonly [string, App])[] = [
    ['consent', await named('Study Buddy', links)],
    ['consent-proved', published('Claude', 'https://claude.ai/api/mcp/auth_callback')],
    ['consent-elsewhere', published('Claude', 'https://claude.ai.evil.example/callback')],
    ['consent-claimed', published('Claude Code', 'http://127.0.0.1/callback')],
    ['consent-posing', await named('Harbour Lane School – Support')],
    [
      'consent-brand',
      await registerApp(origin, {
        redirectUri: 'https://claude-login.evil.example/cb',
        metadata: { client_name: 'Claude' },
      }),
    ],
    ['consent-emoji', await named('🎓'.repeat(64))],
    ['consent-long-word', await named('W'.repeat(64))],
    ['consent-right-to-left', await named('דפי לימוד (بطاقات)')],
    [
      'consent-scheme',
      await registerApp(origin, { redirectUri: 'com.example.a-rather-long-name-of-an-app.school:/cb' }),
    ],
    [
      'consent-long-host',
      await registerApp(origin, {
        redirectUri: `https://${'a-rather-long-label-'.repeat(3)}x.xn--bcher-kva.example/cb`,
      }),
    ],
  ];
  for (const [title, app] of apps) {
    await page.goto((await authorizationRequest(app, { scope: EVERYTHING })).url);
    await page.locator('main#consent').waitFor();
    await look(page, title);
  }
  await page.goto((await authorizationRequest(plain, { scope: SCOPES.join(' ') })).url);
  await look(page, 'consent-all-scopes');
  for (const summary of await page.locator('summary').all()) await summary.click();
  await look(page, 'consent-all-scopes-open');
  const connected = await named('Study Buddy');
  const first = await authorizationRequest(connected);
  const browser = signedInElsewhere();
  await redeem(connected, first, await approve(first.url, connected.redirectUri, { browser }));
  await page.goto((await authorizationRequest(connected, { scope: EVERYTHING })).url);
  await page.locator('.since').waitFor();
  await look(page, 'consent-step-up');
  await page.goto((await authorizationRequest(plain, { scope: 'openid courses:write' })).url);
  await look(page, 'consent-one-change');
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
  await page.locator('button[value=approve]').click();
  await page.getByRole('alert').waitFor();
  await look(page, 'consent-nothing-ticked');
}

/** Another browser of the member who is signed in. */
function signedInElsewhere() {
  const browser = createBrowser();
  browser.cookies.set('school_session', { value: 'held', path: '/' });
  return browser;
}

/** The member went back to the gate without signing in, or without signing in again. */
async function signIns(page: Page, { origin }: Place, look: Look, app: App): Promise<void> {
  const back = async (parameters: Record<string, string>) => {
    await page.goto((await authorizationRequest(app, parameters)).url);
    await page.goto(origin + new URL(page.url()).searchParams.get('return_to'));
    await page.locator('main#login').waitFor();
  };
  await back({ max_age: '0' });
  await look(page, 'login-again');
  const cookies = await page.context().cookies();
  await page.context().clearCookies({ name: 'school_session' });
  await back({});
  await look(page, 'login');
  await page.context().addCookies(cookies);
}

/** The app expects another member, or must know when this one signed in. */
async function obstacles(page: Page, { origin, member }: Place, look: Look, app: App): Promise<void> {
  const own = { ...member };
  const elsewhere = signedInElsewhere();
  Object.assign(member, { id: 'm-2', email: 'ben@school.example' });
  const request = await authorizationRequest(app);
  const tokens = await redeem(app, request, await approve(request.url, app.redirectUri, { browser: elsewhere }));
  Object.assign(member, own);
  await page.goto((await authorizationRequest(app, { id_token_hint: String(tokens.id_token) })).url);
  await page.locator('main#expected').waitFor();
  await look(page, 'expected');
  member.since = undefined;
  await page.goto((await authorizationRequest(app, { max_age: '60' })).url);
  await page.goto(origin + new URL(page.url()).searchParams.get('return_to'));
  await page.locator('main#unconfirmed').waitFor();
  await look(page, 'unconfirmed');
  Object.assign(member, own);
}

/** Calls of a tool that wait for the member, of apps with different names, and what follows the decision. */
async function approvals(page: Page, { origin }: Place, look: Look, plain: App): Promise<void> {
  const word = 'Donaudampfschifffahrtsgesellschaftskapitän'.repeat(3);
  const calls: readonly (readonly [string, App, object])[] = [
    ['approval', plain, { course: 'watercolour-basics', text: 'Tomorrow we meet at nine.\n\nBring brushes.' }],
    ['approval-nothing', plain, {}],
    [
      'approval-posing',
      await registerApp(origin, { metadata: { client_name: 'Harbour Lane School – Support' } }),
      { course: 'דפי לימוד', text: `${word}\u202E\u200B`, options: { to: ['everyone', { not: 'me' }], at: 9 } },
    ],
  ];
  for (const [title, app, args] of calls) {
    const request = await authorizationRequest(app, { scope: 'openid courses:write' });
    const returned = await approve(request.url, app.redirectUri, { browser: signedInElsewhere() });
    const { access_token } = await redeem(app, request, returned);
    const answer = await fetch(`${origin}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${access_token}`,
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'announce', arguments: args },
      }),
    });
    const { result } = (await answer.json()) as { result: { _meta: Record<string, { url: string }> } };
    await page.goto(result._meta['coursegate/approval']?.url ?? '');
    await page.locator('main#approval form').waitFor();
    await look(page, title);
  }
  await tabTo(page, 'button[value=deny]');
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
  await look(page, 'approval-declined');
  await page.goto(`${origin}/oauth/apps/approvals/${'x'.repeat(43)}`);
  await page.locator('main#approval').waitFor();
  await look(page, 'approval-missing');
}

async function suspended(page: Page, { admin }: Place, look: Look, app: App): Promise<void> {
  await command(admin, '/members/m-1/suspend');
  await page.goto((await authorizationRequest(app)).url);
  await page.locator('main#suspended').waitFor();
  await look(page, 'suspended');
  await command(admin, '/members/m-1/resume');
}

/** The school fails, and the page offers another attempt, which succeeds. */
async function failure(page: Page, { member }: Place, look: Look, app: App): Promise<void> {
  const { url } = await authorizationRequest(app);
  member.failing = true;
  await page.goto(url);
  await page.locator('main#error').waitFor();
  await look(page, 'unavailable');
  member.failing = false;
  await tabTo(page, '.retry a');
  await page.keyboard.press('Enter');
  await page.locator('main#consent').waitFor();
}

async function refusals(page: Page, { origin }: Place, look: Look, app: App): Promise<void> {
  const { url } = await authorizationRequest(app, { client_id: 'nobody-knows-me' });
  await page.goto(url);
  await page.locator('main#error').waitFor();
  await look(page, 'refused');
  await page.goto(`${origin}/mcp`);
  await page.locator('summary').click();
  await look(page, 'mcp');
  for (const [title, path] of [
    ['account-api', '/account/graphql'],
    ['openapi', '/openapi.json'],
    ['auth-md', '/auth.md'],
    ['for-apps', '/api/oauth/userinfo'],
  ] as const) {
    await page.goto(origin + path);
    for (const summary of await page
      .locator('summary')
      .all()
      .then((all) => all.slice(0, 2)))
      await summary.click();
    await look(page, title);
  }
  await page.goto(`${origin}/oauth/interaction/long-gone`);
  await page.locator('main#error').waitFor();
  await look(page, 'expired');
}
