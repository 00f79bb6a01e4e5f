import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../../src/operator/demo/demo.ts';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { SAM } from '../../support/member.ts';
import { freePort } from '../../support/world.ts';

const LONGEST = { timeout: 240_000 };

describe.skipIf(!browserPresent())('the demo in Chromium', () => {
  const data = mkdtempSync(join(tmpdir(), 'coursegate-demo-'));
  let browser: Browser;
  let demo: Demo;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    const environment = {
      PORT: String(await freePort()),
      ADMIN_PORT: '0',
      SCHOOL_PORT: '0',
      CLIENT_PORT: '0',
      COURSEGATE_PROFILE: 'A',
      COURSEGATE_DATA: data,
    };
    [browser, demo] = await Promise.all([launchChromium(), startDemo({ environment, clock: Date.now })]);
    context = await browser.newContext();
    complaints = complaintsOf(context);
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
  });
  afterAll(async () => {
    await browser.close();
    await demo.close();
    rmSync(data, { recursive: true, force: true });
  });

  const at = (id: string) => page.locator(`main#${id}`).waitFor();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');

  it('the school is readable on every screen, in light and dark mode', LONGEST, async () => {
    const { look, findings, count } = closeLook('school');
    await page.goto(`${demo.origin}/`);
    await look(page, 'home');
    expect(await ground()).toBe('rgb(17, 21, 31)');
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await ground()).toBe('rgb(242, 244, 248)');
    await page.goto(`${demo.origin}/my/courses`);
    await at('school-login');
    await page.getByLabel('Email address').fill(SAM.login);
    await page.getByLabel('Password').fill('wrong');
    await press('Sign in');
    await page.getByRole('alert').waitFor();
    await look(page, 'wrong-password');
    await page.getByLabel('Password').fill(SAM.password);
    await press('Sign in');
    await at('school-my-courses');
    await look(page, 'my-courses');
    await page.locator('.cards a').first().click();
    await at('school-course');
    await look(page, 'course');
    expect(findings).toEqual([]);
    expect(count.pages).toBe(4);
    expect(complaints).toEqual([]);
  });

  it('the sample app notices that its member disconnected it, and offers to connect again', LONGEST, async () => {
    const { look, findings } = closeLook('disconnected');
    await page.goto(demo.urls.client);
    await press('Connect');
    await press('Approve');
    await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
    await page.goto(`${demo.origin}/oauth/apps/disconnect?all=1`);
    await at('disconnect');
    await press('Disconnect');
    await page.getByRole('status').waitFor();

    await page.goto(demo.urls.client);
    await press('Read my courses again');
    await page.getByRole('heading', { name: 'You disconnected Study Buddy' }).waitFor();
    expect(await page.locator('.problem').count()).toBe(0);
    expect(await page.locator('.courses').count()).toBe(0);
    expect(await page.locator('.step .title').last().innerText()).toBe('Refresh the token');
    expect(await page.locator('.step .state').last().innerText()).toMatch(/^refused/);
    await look(page, 'disconnected');
    await press('Connect again');
    await at('consent');
    await press('Approve');
    await page.getByRole('heading', { name: 'Connected', exact: true }).waitFor();
    expect(findings).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
