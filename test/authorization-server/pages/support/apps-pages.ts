import type { Page } from 'playwright-core';
import type { Look } from '../../../support/album.ts';
import { type App, authorizationRequest, bearer, redeem, registerApp } from '../../../support/app.ts';
import { createBrowser } from '../../../support/browser.ts';
import { tabTo } from '../../../support/keyboard.ts';
import { approve } from '../../../support/member.ts';
import { answerJson, type DocumentHost, plainDocument } from '../../client-documents/support/document-host.ts';

/** Where the pages are served. The browser is signed in at the school with this cookie. */
interface Place {
  readonly origin: string;
  readonly host: DocumentHost;
  readonly cookie: { readonly name: string; readonly value: string };
}

const EVERYTHING =
  'openid profile email account:read courses:read courses:write orders:read events:read posts:read pages:read';

/** The connected apps pages in each of their states, with every kind of app and names that stress the layout. */
export async function appsPages(page: Page, place: Place, look: Look): Promise<void> {
  const { origin, host } = place;
  await page.goto(`${origin}/oauth/apps`);
  await page.locator('main#apps').waitFor();
  await look(page, 'apps-none');

  const named = (client_name: string) => registerApp(origin, { metadata: { client_name } });
  const plain = await named('Study Buddy');
  const published = (name: string, redirectUri: string): App => {
    const url = `https://claude.ai/oauth/${encodeURIComponent(redirectUri)}`;
    host.serve(url, answerJson(plainDocument(url, { client_name: name, redirect_uris: [redirectUri] })));
    return { ...plain, client: { client_id: url }, redirectUri };
  };
  // So many that the question before all are disconnected folds some names.
  const apps: readonly App[] = [
    published('Claude', 'https://claude.ai/api/mcp/auth_callback'),
    published('Claude', 'https://claude.ai.evil.example/callback'),
    published('Claude Code', 'http://127.0.0.1/callback'),
    await named('Harbour Lane School – Support'),
    await named('🎓'.repeat(64)),
    await named('W'.repeat(64)),
    await named('דפי לימוד (بطاقات)'),
    await registerApp(origin, { redirectUri: 'com.example.a-rather-long-name-of-an-app.school:/cb' }),
  ];
  for (const app of apps) await letIn(app, place);
  await letIn(plain, place);
  const { access_token } = await letIn(plain, place);
  const paths = ['courses', 'orders', 'events', 'posts', 'pages', 'whoami', 'event_registrations'];
  for (const path of [...paths, ...paths, ...paths.slice(0, 3)]) {
    await (await fetch(`${origin}/api/v1/${path}`, { headers: bearer(access_token) })).arrayBuffer();
  }
  await (await fetch(`${origin}/api/oauth/userinfo`, { headers: bearer(access_token) })).arrayBuffer();
  await fetch(`${origin}/account/graphql`, {
    method: 'POST',
    headers: { ...bearer(access_token), 'content-type': 'application/json' },
    body: '{"query":"{ viewer { id email } }"}',
  }).then((answer) => answer.text());

  // Changes, some of them on a day with reads.
  for (let times = 0; times < 2; times += 1) {
    const create = { method: 'POST', headers: bearer(access_token), body: '{}' };
    await (await fetch(`${origin}/api/v1/courses`, create)).arrayBuffer();
  }

  await page.goto(`${origin}/oauth/apps`);
  await look(page, 'apps');
  // With the keyboard only: to the page about an app, and through the confirmation of its Disconnect links.
  await tabTo(page, `a[href*="/apps/app?app=${plain.client.client_id}"]`);
  await page.keyboard.press('Enter');
  await page.locator('main#app').waitFor();
  for (const summary of await page.locator('summary').all()) await summary.press('Enter');
  await look(page, 'app');
  await disconnect(page, 'a[href*="connection="]');
  await page.goto(`${origin}/oauth/apps`);
  await disconnect(page, 'a[href*="/disconnect?app="]');
  await look(page, 'apps-done');
  await disconnect(page, 'a[href*="all="]', look, 'apps-ask');

  const cookies = await page.context().cookies();
  await page.context().clearCookies({ name: place.cookie.name });
  await page.goto(`${origin}/oauth/apps/return`);
  await page.locator('main#apps-sign-in').waitFor();
  await look(page, 'apps-sign-in');
  await page.context().addCookies(cookies);
}

/** Reaches a link with the Tab key, follows it, and confirms with the last focusable element on the page. */
async function disconnect(page: Page, link: string, look?: Look, title = ''): Promise<void> {
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await page.locator('main#disconnect').waitFor();
  for (const summary of await page.locator('summary').all()) await summary.press('Enter');
  await look?.(page, title);
  await tabTo(page, 'form button');
  await page.keyboard.press('Enter');
  await page.getByRole('status').waitFor();
}

async function letIn(app: App, { cookie }: Place) {
  const browser = createBrowser();
  browser.cookies.set(cookie.name, { value: cookie.value, path: '/' });
  const request = await authorizationRequest(app, { scope: EVERYTHING });
  return redeem(app, request, await approve(request.url, app.redirectUri, { browser }));
}
