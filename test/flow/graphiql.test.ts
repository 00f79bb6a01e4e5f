import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../src/tools/demo/demo.ts';
import { closeLook, complaintsOf } from '../support/album.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { SAM } from '../support/member.ts';
import { freePort } from '../support/world.ts';

const LONGEST = 120_000;

describe.skipIf(!browserPresent())('GraphiQL in a browser', () => {
  let browser: Browser;
  let demo: Demo;
  let data: string;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'coursegate-graphiql-'));
    const environment = {
      PORT: String(await freePort()),
      ADMIN_PORT: '0',
      SCHOOL_PORT: '0',
      CLIENT_PORT: '0',
      COURSEGATE_PROFILE: 'A',
      COURSEGATE_DATA: data,
    };
    [browser, demo] = await Promise.all([launchChromium(), startDemo({ environment, clock: Date.now })]);
  });
  afterAll(async () => {
    await browser.close();
    await demo.close();
    rmSync(data, { recursive: true, force: true });
  });

  it(
    'opens from the app with its token, runs the query of the contract, and shows the schema',
    async () => {
      const { context, asked } = await visitor();
      const complaints = complaintsOf(context);
      const app = await context.newPage();
      await connect(app);
      const opened = context.waitForEvent('page');
      await app.getByRole('button', { name: 'Open in GraphiQL' }).click();
      const page = await opened;
      await page.getByRole('status').getByText('200 OK').waitFor();
      expect(page.url()).toBe(demo.urls.graphiql);
      expect(await page.evaluate('window.opener')).toBeNull();

      await page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).click();
      await answered(page, 'student@example.com');
      const answer = await page.locator('.result-window').innerText();
      for (const text of ['slug', 'positionSeconds', 'hasLifetimeAccess']) expect(answer).toContain(text);
      expect(answer).not.toContain('errors');
      const { look, findings, count } = closeLook('graphiql');
      await look(page, 'courses');
      // `look` ends on a wide screen. On a phone, the response is below the operation and uses the full width.
      await page.setViewportSize({ width: 390, height: 844 });
      const [above, below] = await Promise.all(
        ['.graphiql-editors', '.result-window'].map((place) => page.locator(place).boundingBox()),
      );
      expect(above?.width).toBeGreaterThan(300);
      expect(below?.width).toBeGreaterThan(300);
      expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));

      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      const documentation = page.locator('.graphiql-doc-explorer');
      await documentation.getByRole('link', { name: 'EnrolledCourse', exact: true }).click();
      await documentation.getByRole('link', { name: 'lastWatchedLecture', exact: true }).waitFor();
      await look(page, 'documentation');

      // GraphiQL's dialogs add inline styles: the content security policy must allow them without reporting a
      // violation.
      await page.getByRole('button', { name: 'Open short keys dialog' }).click();
      await page.getByRole('dialog').getByRole('heading', { name: 'Short Keys' }).waitFor();
      await look(page, 'short-keys');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Open settings dialog' }).click();
      await page.getByRole('dialog').getByText('Theme').first().waitFor();
      await look(page, 'settings');
      expect(await page.getByRole('dialog').innerText()).not.toContain('Persist headers');
      await page.keyboard.press('Escape');

      const token = sentToken(asked, demo.origin);
      const kept = await page.evaluate('JSON.stringify([sessionStorage, localStorage, document.cookie])');
      expect(kept).not.toContain(token);
      expect(kept).toContain('enrolledCourses');
      expect(await page.content()).not.toContain(token);
      expect(asked.filter(({ url }) => url.includes(token))).toEqual([]);
      const admin = new URL(demo.urls.graphiql ?? '').origin;
      const ofThePage = asked.filter(({ from, url }) => from === demo.urls.graphiql && !url.startsWith('data:'));
      expect(ofThePage.length).toBeGreaterThan(6);
      const elsewhere = ofThePage.filter(
        ({ url }) => !url.startsWith(`${admin}/graphiql/`) && url !== `${demo.origin}/account/graphql`,
      );
      expect(elsewhere).toEqual([]);
      expect(findings).toEqual([]);
      expect(count.rules).toBeGreaterThan(10 * count.pages);
      expect(complaints).toEqual([]);
      await context.close();
    },
    LONGEST,
  );

  it(
    'asks for a token, tells a wrong one in words, and takes the next',
    async () => {
      const { context, asked } = await visitor();
      const app = await context.newPage();
      await connect(app);
      await app.getByRole('button', { name: 'Read my courses again' }).click();
      const token = await shownToken(app);

      const page = await context.newPage();
      await page.goto(demo.urls.graphiql ?? '');
      await page.getByRole('status').getByText('Paste an access token to begin.').waitFor();
      await page.locator('.graphiql-query-editor').waitFor();
      expect(asked.filter(({ url }) => url.endsWith('/account/graphql'))).toEqual([]);
      const { look, findings } = closeLook('graphiql-token');
      await look(page, 'no-token');

      await paste(page, 'nonsense');
      await page.getByRole('status').getByText('401 Unauthorized').waitFor();
      await page.locator('.graphiql-query-editor textarea').focus();
      await page.keyboard.press('Control+Enter');
      await answered(page, 'The gate does not take this token');
      const refused = await page.locator('.result-window').innerText();
      expect(refused).toContain('invalid_token');
      expect(refused).toContain('resource_metadata');
      await look(page, 'wrong-token');

      await paste(page, `Bearer ${token}`);
      await page.getByRole('status').getByText('200 OK').waitFor();
      expect(await page.getByLabel('Access token').inputValue()).toBe('');
      await page.locator('.graphiql-query-editor textarea').focus();
      await page.keyboard.press('Control+Enter');
      await answered(page, 'student@example.com');

      // An error in the operation: GraphQL's own error, with its extensions and its status.
      await page.locator('.graphiql-query-editor textarea').focus();
      await page.keyboard.press('Control+A');
      await page.keyboard.insertText('{ viewer { nothing } }');
      await page.keyboard.press('Control+Enter');
      await answered(page, 'extensions');
      expect(await page.locator('.result-window').innerText()).toContain('nothing');
      await page.getByRole('status').getByText('400 Bad Request').waitFor();
      expect(findings).toEqual([]);
      await context.close();
    },
    LONGEST,
  );

  it('is offered by the app while its token lives, and not to a form of another origin', async () => {
    const { context } = await visitor();
    const page = await context.newPage();
    await page.goto(demo.urls.client);
    expect(await page.getByRole('button', { name: 'Open in GraphiQL' }).count()).toBe(0);
    const hand = (origin: string) =>
      context.request.post(`${demo.urls.client}/graphiql`, { headers: { origin }, maxRedirects: 0 });
    expect((await hand(demo.urls.client)).headers().location).toBe('/');
    await connect(page);
    expect((await hand('http://localhost:4000')).status()).toBe(403);
    const given = (await hand(demo.urls.client)).headers();
    expect(given.location).toMatch(/\/graphiql#access_token=[\w%.~-]{20,}$/);
    expect(given['cache-control']).toBe('no-store');
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('heading', { name: 'Disconnected' }).waitFor();
    expect(await page.getByRole('button', { name: 'Open in GraphiQL' }).count()).toBe(0);
    expect((await hand(demo.urls.client)).headers().location).toBe('/');
    await context.close();
  });

  async function visitor() {
    const context: BrowserContext = await browser.newContext();
    context.setDefaultTimeout(20_000);
    const asked: { url: string; from: string; authorization: string | undefined }[] = [];
    context.on('request', (request) => {
      const from = request.isNavigationRequest() ? '' : (request.frame().url().split('#', 1)[0] ?? '');
      asked.push({ url: request.url().split('#', 1)[0] ?? '', from, authorization: request.headers().authorization });
    });
    return { context, asked };
  }

  async function connect(page: Page): Promise<void> {
    await page.goto(demo.urls.client);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByLabel('Email address').fill(SAM.login);
    await page.getByLabel('Password').fill(SAM.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
  }

  async function shownToken(page: Page): Promise<string> {
    await page.goto(`${demo.urls.client}/?secrets=shown`);
    const token = /authorization<\/i>: Bearer ([\w.~+/-]+)/.exec(await page.content())?.[1];
    if (token === undefined) throw new Error('Study Buddy shows no token');
    return token;
  }

  async function paste(page: Page, token: string): Promise<void> {
    await page.getByLabel('Access token').fill(token);
    await page.getByRole('button', { name: 'Use token' }).click();
  }

  const answered = (page: Page, text: string) => page.locator('.result-window').getByText(text).first().waitFor();
});

function sentToken(asked: readonly { url: string; authorization: string | undefined }[], origin: string): string {
  const token = asked.find(({ url }) => url === `${origin}/account/graphql`)?.authorization?.replace('Bearer ', '');
  if (token === undefined || token.length < 20) throw new Error('no token was sent');
  return token;
}
