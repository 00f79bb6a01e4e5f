import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Look } from './album.ts';
import { type App, authorizationRequest } from './app.ts';
import { OLU, SAM } from './member.ts';

/** Where a story runs. */
interface Place {
  readonly origin: string;
  readonly profile: string;
  readonly urls: { readonly client: string };
}

/**
 * A member connects Study Buddy from a browser without a session, sees courses on its page, and cuts it off until its
 * token is refused.
 */
export async function connectAndCutOff(page: Page, place: Place, look: Look): Promise<void> {
  await page.goto(place.urls.client);
  await look(page, 'study-buddy');
  await press(page, 'Connect');
  await at(page, 'school-login');
  await look(page, 'school-login');

  // The member returns without signing in, for example with a bookmark or the back button: they get a choice, not a
  // redirect loop.
  const back = await page.locator('input[name=return_to]').inputValue();
  await page.goto(place.origin + back);
  await at(page, 'login');
  await look(page, 'not-signed-in');
  await page.getByRole('link', { name: 'Sign in' }).click();

  await at(page, 'school-login');
  await signIn(page, { ...SAM, password: 'wrong' });
  await page.getByRole('alert').getByText('wrong').waitFor();
  await look(page, 'school-login-wrong-password');
  await signIn(page, SAM);

  await at(page, 'consent');
  const consent = await page.locator('main').innerText();
  for (const text of ['Study Buddy', 'Not verified: any app on this device', 'an app on this device', SAM.login]) {
    expect(consent).toContain(text);
  }
  for (const box of await page.getByRole('checkbox').all()) expect(await box.isChecked()).toBe(true);
  await look(page, 'consent');
  await page.locator('input[value="orders:read"]').uncheck();
  await look(page, 'consent-one-thing-less');
  await press(page, 'Approve');

  await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
  expect(await page.locator('.step .title').allInnerTexts()).toEqual(STEPS);
  const scopes = await page.locator('.app .choices code').allTextContents();
  expect(scopes).toEqual(['openid', 'profile', 'email', 'account:read', 'courses:read']);
  expect(await coursesShown(page)).toHaveLength(4);
  await look(page, 'connected');
  await page.locator('#step-1 summary').click();
  await page.locator('#step-1 pre').first().waitFor();
  await look(page, 'connected-first-step-open');

  expect(await act(page, 'Refresh the token')).toContain('a refresh token was issued too');
  await look(page, 'refreshed');
  const introspected = await act(page, 'Show what the token is');
  expect(introspected).toContain('The token is active.');
  expect(introspected).toContain(`It is bound to ${place.origin}.`);
  await look(page, 'introspected');
  await act(page, 'Disconnect');
  await page.getByRole('heading', { name: 'Disconnected' }).waitFor();
  await look(page, 'disconnected');
  expect(await act(page, 'Try to read anyway')).toContain('401 Unauthorized');
  await look(page, 'refused');
}

/** A member cancels, then lets another member approve. The browser is signed in at the school as Sam. */
export async function changeOfMind(page: Page, place: Place, look: Look): Promise<void> {
  await page.goto(place.urls.client);
  await press(page, 'Start over');
  await press(page, 'Connect');
  await at(page, 'consent');
  await press(page, 'Cancel');
  await page.getByText('access_denied (the member did not approve)').waitFor();
  await look(page, 'cancelled');

  await press(page, 'Start over');
  await page.getByText('What to ask for').click();
  await page.locator('input[value=openid]').uncheck();
  await look(page, 'study-buddy-choices');
  await press(page, 'Connect');
  await at(page, 'consent');
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
  await press(page, 'Approve');
  await page.getByRole('alert').waitFor();
  for (const box of await page.getByRole('checkbox').all()) expect(await box.isChecked()).toBe(false);
  await look(page, 'consent-nothing-ticked');
  await page.getByRole('link', { name: 'Not you?' }).click();
  await at(page, 'school-login');
  await look(page, 'school-login-as-someone-else');
  await signIn(page, OLU);
  await at(page, 'consent');
  await page.getByText(OLU.login).waitFor();
  expect(await page.locator('main').innerText()).not.toContain(SAM.login);
  await look(page, 'consent-of-another-member');
  await press(page, 'Approve');
  await page.getByText(`As ${OLU.login}`).waitFor();
  expect(await coursesShown(page)).not.toHaveLength(0);
  await look(page, 'connected-another-member');
}

/** Visits the school's own pages through the gate. */
export async function aroundTheSchool(page: Page, { origin }: Place, look: Look): Promise<void> {
  for (const [path, id] of [
    ['/', 'school-home'],
    ['/courses', 'school-courses'],
    ['/my/courses', 'school-my-courses'],
    ['/nothing-here', 'school-message'],
  ] as const) {
    await page.goto(origin + path);
    await at(page, id);
    await look(page, id);
  }
  await page.goto(`${origin}/my/courses`);
  await page.locator('.cards a').first().click();
  await at(page, 'school-course');
  await look(page, 'school-course');
}

/** The pages a member sees when an app sends an invalid request. */
export async function wrongRequests(page: Page, app: App, look: Look): Promise<void> {
  const origin = app.server.issuer;
  for (const [title, parameters, code] of [
    ['unknown-app', { client_id: 'nobody-knows-me' }, 'invalid_client'],
    ['wrong-redirect-uri', { redirect_uri: 'https://evil.example/callback' }, 'invalid_redirect_uri'],
    ['no-client-id', { client_id: undefined }, 'invalid_request'],
  ] as const) {
    await page.goto((await authorizationRequest(app, parameters)).url);
    await at(page, 'error');
    expect(await page.locator('main').innerText()).toContain(code);
    await look(page, title);
  }
  await page.goto(`${origin}/oauth/interaction/long-gone`);
  await at(page, 'error');
  await look(page, 'expired');
}

/**
 * The pages a member sees while the school is down: on the way to its sign-in, and when it cannot confirm who they are.
 */
export async function schoolDown(page: Page, app: App, look: Look): Promise<void> {
  const { url } = await authorizationRequest(app);
  await page.goto(url);
  await at(page, 'error');
  await look(page, 'no-sign-in-page');
  await page.context().addCookies([{ name: 'school_session', value: 'held', url: app.server.issuer }]);
  await page.goto(url);
  await at(page, 'error');
  expect(await page.locator('main').innerText()).toContain('login_unavailable');
  await look(page, 'nobody-to-ask');
}

/** The titles of Study Buddy's steps up to the list of courses. */
export const STEPS = [
  'Discover the resource',
  'Discover the authorization server',
  'Register',
  'Send the member to the school',
  'The member signs in and approves',
  'Back with a code',
  'Exchange the code for tokens',
  'Read the member’s courses',
];

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

const at = (page: Page, id: string) => page.locator(`main#${id}`).waitFor();

const coursesShown = (page: Page) => page.locator('.app section > .courses > li > strong').allTextContents();

async function signIn(page: Page, member: { readonly login: string; readonly password: string }): Promise<void> {
  await page.getByLabel('Email address').fill(member.login);
  await page.getByLabel('Password').fill(member.password);
  await press(page, 'Sign in');
}

/** Presses one of Study Buddy's buttons and returns the text of the step it adds. */
async function act(page: Page, name: string): Promise<string> {
  const next = (await page.locator('.step').count()) + 1;
  await press(page, name);
  return page.locator(`#step-${next}`).innerText();
}
