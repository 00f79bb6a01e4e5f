import type { Page } from 'playwright-core';
import type { Look } from '../../../support/album.ts';
import { type App, authorizationRequest, registerApp } from '../../../support/app.ts';
import { command } from '../../../support/commands.ts';
import { answerJson, type DocumentHost, plainDocument } from '../../client-documents/support/document-host.ts';

/** Where the pages are served. The browser is signed in at the school. */
interface Place {
  readonly origin: string;
  readonly host: DocumentHost;
  /** The admin listener, which takes commands. The member who is signed in is m-1. */
  readonly admin: string;
  /** Additional parameters of the app's request: its language. */
  readonly wish: Readonly<Record<string, string>>;
}

const EVERYTHING = 'openid profile email account:read courses:read courses:write students:write';

/** Every page of the gate in each of its states, with names that stress the layout. */
export async function gatePages(page: Page, place: Place, look: Look): Promise<void> {
  const plain = await registerApp(place.origin, { metadata: { client_name: 'Study Buddy' } });
  await consents(page, place, look, plain);
  await signIns(page, place, look, plain);
  await suspended(page, place, look, plain);
  await refusals(page, place, look, plain);
}

async function consents(page: Page, place: Place, look: Look, plain: App): Promise<void> {
  const { origin, host, wish } = place;
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
    await page.goto((await authorizationRequest(app, { scope: EVERYTHING, ...wish })).url);
    await page.locator('main#consent').waitFor();
    await look(page, title);
  }
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
  await page.locator('button[value=approve]').click();
  await page.getByRole('alert').waitFor();
  await look(page, 'consent-nothing-ticked');
}

/** The member went back to the gate without signing in, or without signing in again. */
async function signIns(page: Page, { origin, wish }: Place, look: Look, app: App): Promise<void> {
  const back = async (parameters: Record<string, string>) => {
    await page.goto((await authorizationRequest(app, { ...parameters, ...wish })).url);
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

async function suspended(page: Page, { admin, wish }: Place, look: Look, app: App): Promise<void> {
  await command(admin, '/members/m-1/suspend');
  await page.goto((await authorizationRequest(app, wish)).url);
  await page.locator('main#suspended').waitFor();
  await look(page, 'suspended');
  await command(admin, '/members/m-1/resume');
}

async function refusals(page: Page, { origin, wish }: Place, look: Look, app: App): Promise<void> {
  const { url } = await authorizationRequest(app, { client_id: 'nobody-knows-me', ...wish });
  await page.goto(url);
  await page.locator('main#error').waitFor();
  await look(page, 'refused');
  await page.goto(`${origin}/oauth/interaction/long-gone`);
  await page.locator('main#error').waitFor();
  await look(page, 'expired');
}
