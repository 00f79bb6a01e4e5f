import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { runToEnd } from '../../support/operator.ts';
import { type Schools, startSchools } from '../../support/schools.ts';

const OPERATOR = 'operator-of-the-process-0123456789ab';
const names = Array.from({ length: 55 }, (_, at) => `branch-${String(at + 1).padStart(2, '0')}`);
const DOWN = { school: { url: 'http://127.0.0.1:9' } };

describe.runIf(browserPresent())('the console of many schools in Chromium', () => {
  let schools: Schools;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    schools = await startSchools({
      schools: {
        ...Object.fromEntries(names.map((name) => [name, { profile: 'A', origin: `https://${name}.example` }])),
        harbour: { profile: 'A', origin: 'https://harbour.example', name: 'Harbour Lane' },
        'royal-conservatoire-of-seamanship-navigation-and-harbours': {
          ...{ profile: 'A', upstreams: DOWN },
          origin: 'https://royal-conservatoire-of-seamanship-navigation-and-harbours.example',
        },
        'without-closing-bracket': 'origin: [https://without.example',
        'wrong-route': {
          ...{ profile: 'A', origin: 'https://wrong-route.example' },
          routes: [
            { match: 'GET /x', upstream: 'nowhere' },
            { match: 'GET /y', upstream: 'elsewhere' },
          ],
        },
      },
      main: { admin: { hmac: { secret: { env: 'OPERATOR' } } } },
      environment: { OPERATOR },
    });
    for (let times = 0; times < 20; times += 1)
      await fetch('https://royal-conservatoire-of-seamanship-navigation-and-harbours.example/');
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await schools.close();
  });

  it('is accessible on every screen, and leads to the console of each school and on in it', async () => {
    const { look, findings, count } = closeLook('console-schools');
    // Under a name of this computer that no other program has.
    const of = ['--config', schools.main, '--admin', schools.admin];
    const link = (await runToEnd(['console', '--no-browser', ...of], { OPERATOR })).stdout.trim();
    const context = await browser.newContext({ baseURL: new URL(link).origin });
    const complaints = complaintsOf(context);
    const page = await context.newPage();
    await page.goto(link);
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByRole('heading', { name: 'Schools' }).waitFor();
    // Files are checked in the background.
    await expect
      .poll(async () => (await page.reload()) && page.getByText('2 refused').count(), { timeout: 60_000 })
      .toBe(1);
    await look(page, 'list');
    await page.getByRole('link', { name: 'Next page' }).click();
    await look(page, 'list-end');
    await page.getByLabel('Part of a name or address').fill('harbour.');
    await page.getByRole('button', { name: 'Search' }).click();
    await look(page, 'search');
    await page.getByRole('link', { name: 'harbour', exact: true }).click();
    await page.getByRole('heading', { name: 'Open the console' }).waitFor();
    await look(page, 'link');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.waitForURL('**/schools/harbour/console');
    await look(page, 'school');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('link', { name: /Rotate/ }).click();
    await page.getByRole('button', { name: /Rotate/ }).click();
    await page.waitForURL('**/schools/harbour/console/keys');
    expect(await page.getByRole('status').first().textContent()).toMatch(/key/i);
    // A second time no secret and no click is needed.
    await page.goto('/console?q=harbour.');
    await page.getByRole('link', { name: 'harbour', exact: true }).click();
    await page.waitForURL('**/schools/harbour/console');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    expect((await context.cookies()).map(({ path }) => path)).toEqual(['/console']);
    await context.close();
    expect(findings).toEqual([]);
    expect(count.pages).toBe(5);
    expect(complaints).toEqual([]);
  }, 120_000);
});
