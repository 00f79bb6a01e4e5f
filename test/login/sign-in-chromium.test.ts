import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/passwords/password-hash.ts';
import { closeLook, complaintsOf, LANGUAGES } from '../support/album.ts';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { tabTo } from '../support/keyboard.ts';
import { startWorld } from '../support/world.ts';
import { type SignInWorld, startSignIn } from './support/sign-in.ts';

describe.skipIf(!browserPresent())('the gate’s own sign-in page in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-members-'));
  let browser: Browser;
  let gate: SignInWorld;
  beforeAll(async () => {
    const file = join(folder, 'members.yaml');
    const password = await hashPassword('right');
    const members = [
      { id: 7, login: 'ann', password },
      { id: 8, login: 'sue', password, suspended: true },
    ];
    writeFileSync(file, JSON.stringify({ members }));
    browser = await launchChromium();
    gate = await startSignIn({
      kind: 'directory',
      file,
      // The page of a wrong password is loaded again in each of the five languages.
      attempts: { account: { requests: 6, per: 900 }, address: 'unlimited' },
    });
  });
  afterAll(async () => {
    await browser.close();
    await gate.close();
    rmSync(folder, { recursive: true });
  });

  it('is readable in every language on every screen, works with the keyboard, and remembers the name', {
    timeout: 240_000,
  }, async () => {
    const { look, findings } = closeLook('sign-in', LANGUAGES);
    const context = await browser.newContext();
    context.setDefaultTimeout(60_000);
    try {
      const complaints = complaintsOf(context);
      const page = await context.newPage();
      const focused = () => page.evaluate('document.activeElement.id');
      const type = async (password: string) => {
        await page.keyboard.type(password);
        await page.keyboard.press('Enter');
        await page.locator('#problem').waitFor();
      };
      await page.goto((await authorizationRequest(await registerApp(gate.world.origin))).url);
      await page.locator('main#sign-in').waitFor();
      expect(await focused()).toBe('username');
      await look(page, 'sign-in');
      await page.keyboard.type('bob');
      await page.keyboard.press('Tab');
      await type('wrong');
      expect(await page.locator('#username').inputValue()).toBe('bob');
      expect(await focused()).toBe('password');
      await look(page, 'wrong');
      await type('again');
      await look(page, 'slow-down');
      await page.locator('#username').fill('sue');
      await page.locator('#password').fill('right');
      await page.keyboard.press('Enter');
      await page.getByText('is suspended').waitFor();
      await look(page, 'suspended');
      await page.locator('#username').fill('ann');
      await page.locator('#password').fill('right');
      await page.keyboard.press('Enter');
      await page.locator('main#consent').waitFor();
      await page.goto(`${gate.world.origin}/oauth/apps`);
      await look(page, 'no-apps');
      await tabTo(page, '#apps button');
      await page.keyboard.press('Enter');
      await page.locator('main#signed-out').waitFor();
      await look(page, 'signed-out');
      expect(complaints.filter((line) => !/\b(400|403|429)\b/.test(String(line)))).toEqual([]);
    } finally {
      await context.close();
    }
    expect(findings).toEqual([]);
  });

  it('is a choice between providers, and offers another attempt while one is unavailable', {
    timeout: 240_000,
  }, async () => {
    const provider = (id: string, name: string) => ({
      ...{ id, name, issuer: 'http://127.0.0.1:9', clientId: 'gate', clientSecret: { env: 'IDP_SECRET' } },
    });
    const providers = [provider('a', 'Harbour Lane Staff'), provider('b', 'W'.repeat(60))];
    const world = await startWorld({
      profile: 'A',
      environment: { IDP_SECRET: 'what the provider knows of the gate' },
      overrides: { login: { kind: 'oidc', providers } },
    });
    const { look, findings, count } = closeLook('providers', LANGUAGES);
    const context = await browser.newContext();
    context.setDefaultTimeout(60_000);
    try {
      const complaints = complaintsOf(context);
      const page = await context.newPage();
      await page.goto((await authorizationRequest(await registerApp(world.origin))).url);
      await page.locator('main#sign-in .providers').waitFor();
      await look(page, 'providers');
      await tabTo(page, 'a[href*="provider=a"]');
      await page.keyboard.press('Enter');
      await page.locator('main#error').waitFor();
      await look(page, 'unavailable');
      const again = page.waitForResponse((response) => response.url() === page.url());
      await tabTo(page, '.retry a');
      await page.keyboard.press('Enter');
      expect((await again).status()).toBe(503);
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
      await world.close();
    }
    expect(findings).toEqual([]);
    expect(count.pages).toBe(2);
  });

  it('names the app that waits, and leads back to it without a sign-in', async () => {
    const context = await browser.newContext({ viewport: { width: 390, height: 664 } });
    try {
      const page = await context.newPage();
      const app = await registerApp(gate.world.origin, { metadata: { client_name: 'Study Buddy' } });
      const request = await authorizationRequest(app);
      await page.goto(request.url);
      const heading = page.getByRole('heading', { name: 'Sign in to Harbour Lane School to continue to Study Buddy' });
      await heading.waitFor();
      const cancel = page.getByRole('button', { name: 'Cancel and go back to the app' });
      const box = await cancel.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThan(664);
      await page.locator('#password').fill('typed, but not sent');
      const sent = page.waitForRequest((one) => one.method() === 'POST');
      const back = page.waitForRequest((one) => one.url().startsWith('https://app.example/'));
      await cancel.focus();
      await page.keyboard.press('Enter');
      expect((await sent).postData()).toMatch(/^csrf=[\w-]+&decision=deny$/);
      const returned = new URL((await back).url()).searchParams;
      expect([returned.get('error'), returned.get('state')]).toEqual(['access_denied', request.state]);
    } finally {
      await context.close();
    }
  });
});
