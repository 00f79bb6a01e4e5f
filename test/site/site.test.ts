import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSite } from '../../site/build.ts';
import { serveFolder } from '../../site/serve.ts';
import { closeLook, complaintsOf } from '../support/album.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { keyboardFindings } from '../support/keyboard.ts';
import { builtPages, deadReferences } from './support/built.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The pages that have something the others have not: the front, tables, pictures, long code, lists of links. */
const LOOKED_AT = ['index.html', 'how-it-works.html', 'login/session.html', 'reference/endpoints.html', '404.html'];

/** The pages with the widest tables. */
const WIDEST = ['chart', 'configuration', 'mappings']
  .map((name) => `reference/${name}.html`)
  .concat('scaling.html', 'conformance.html', 'project/measurements.html', 'clients/matrix.html');

/** `npm run test:pages`: every page. */
const EVERY_PAGE = process.env.COURSEGATE_PAGES === 'all';

describe('the documentation site', () => {
  const out = mkdtempSync(join(tmpdir(), 'coursegate-site-'));
  let files: ReadonlySet<string>;
  let pages: ReturnType<typeof builtPages>;
  let browser: Browser;
  let server: Server;
  let origin: string;

  beforeAll(async () => {
    buildSite({ source: ROOT, out, base: '/', checkoutOnly: true });
    files = new Set(globSync('**/*.*', { cwd: out }));
    pages = builtPages(out);
    if (!browserPresent()) return;
    [browser, server] = await Promise.all([launchChromium(), serveFolder(out, 0)]);
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
    rmSync(out, { recursive: true, force: true });
  });

  it('has a page for every page of docs, and those beside it', () => {
    const expected = globSync('docs/**/*.md', { cwd: ROOT }).length;
    expect(expected).toBeGreaterThan(45);
    expect(pages.length).toBeGreaterThan(expected);
    for (const file of [
      'quickstart',
      'login/session',
      'decisions/index',
      'reference/configuration',
      'project/changelog',
    ]) {
      expect(files).toContain(`${file}.html`);
    }
  });

  it('has links that lead to pages and headings that exist', () => {
    expect(pages.flatMap(({ references }) => references).length).toBeGreaterThan(5000);
    expect(deadReferences(pages, files)).toEqual([]);
  });

  it('has one title on each page, and no level of headings left out', () => {
    const wrong = pages.filter(
      ({ file, headings }) =>
        // The page for what does not exist is written in the browser.
        file !== '404.html' &&
        (headings.filter((level) => level === 1).length !== 1 ||
          headings.some((level, at) => at > 0 && level > (headings[at - 1] ?? 0) + 1)),
    );
    expect(wrong.map(({ file, headings }) => `${file}: ${headings}`)).toEqual([]);
  });

  it('loads nothing from elsewhere', () => {
    const loaded = pages.flatMap(({ file, references }) =>
      references
        .filter(({ tag, url }) => tag !== 'a' && /^(?:[a-z]+:|\/\/)/i.test(url))
        .map(({ url }) => `${file}: ${url}`),
    );
    expect(loaded).toEqual([]);
    const styles = [...files]
      .filter((file) => file.endsWith('.css'))
      .map((file) => readFileSync(join(out, file), 'utf8'));
    expect(styles.join('\n').match(/url\((?!["']?(?:data:|\/assets\/))[^)]*\)/g) ?? []).toEqual([]);
  });

  describe.runIf(browserPresent())('in Chromium', () => {
    /** A page that says what it complains of, and what it asks of other origins. */
    async function open(path: string) {
      const context = await browser.newContext({ baseURL: origin, reducedMotion: 'reduce' });
      const complaints = complaintsOf(context);
      context.on('request', (request) => {
        if (!request.url().startsWith(`${origin}/`)) complaints.push(`asks for ${request.url()}`);
      });
      const page = await context.newPage();
      await page.goto(path);
      await page.locator('.VPSwitchAppearance[title]:not([title=""])').first().waitFor({ state: 'attached' });
      return { page, complaints };
    }

    it('is accessible on every screen, in light and dark', async () => {
      const { look, findings } = closeLook('site');
      const { page, complaints } = await open('/');
      for (const file of EVERY_PAGE ? pages.map((one) => one.file) : LOOKED_AT) {
        await page.goto(`/${file}`);
        await page.locator('.VPSwitchAppearance[title]:not([title=""])').first().waitFor({ state: 'attached' });
        await look(page, file.replace('.html', '').replaceAll('/', '-'));
      }
      expect(findings).toEqual([]);
      expect(complaints).toEqual([]);
      await page.context().close();
    }, 3_600_000);

    it('finds a word without a network, and leads to it by keyboard', async () => {
      const { page, complaints } = await open('/');
      const { look, findings } = closeLook('site-search');
      await page.keyboard.press('Control+k');
      await page.locator('#localsearch-input:focus').waitFor();
      await page.keyboard.type('redirect_uri');
      await page.locator('#localsearch-item-0').waitFor();
      expect(await page.locator('.VPLocalSearchBox .results').innerText()).toContain('For client developers');
      await look(page, 'results');
      await page.keyboard.press('Escape');
      await page.locator('.VPLocalSearchBox').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.locator('#localsearch-input:focus').waitFor();
      await page.keyboard.press('Control+a');
      await page.keyboard.type('contraseña');
      await page.locator('#localsearch-item-0').waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL('**/for-members.html#en-espa%C3%B1ol');
      expect([...findings, ...complaints]).toEqual([]);
      await page.context().close();
    });

    it.each([
      ['why 401', /^\/troubleshooting\.html#.*401/],
      ['revoke all', /^\/troubleshooting\.html#revoke-all/],
      ['cannot connect', /^\/troubleshooting\.html#an-app-cannot-connect/],
      ['chatgpt', /^\/troubleshooting\.html/],
      ['wordpress', /^\/integrations\/wordpress\.html/],
      ['rotate keys', /^\/operator\.html/],
    ])('finds help before decisions and changes: “%s”', async (words, first) => {
      const { page } = await open('/');
      await page.keyboard.press('Control+k');
      await page.locator('#localsearch-input:focus').waitFor();
      await page.keyboard.type(words);
      await expect.poll(() => page.locator('.VPLocalSearchBox .result').first().getAttribute('href')).toMatch(first);
      const found = await page
        .locator('.VPLocalSearchBox .result')
        .evaluateAll((links) => links.slice(0, 4).map((link) => link.getAttribute('href') ?? ''));
      expect(found.filter((href) => /decisions|changelog/.test(href))).toEqual([]);
      await page.context().close();
    });

    it('says in its own words that a page does not exist, and where to go on', async () => {
      const { page } = await open('/no/such/page');
      await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
      await page.getByRole('link', { name: 'Front page of the documentation' }).waitFor();
      await page.context().close();
    });

    it('is usable by keyboard', async () => {
      const { page, complaints } = await open('/contents.html');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('location.hash')).toBe('#VPContent');
      expect(await keyboardFindings(page)).toEqual([]);
      await page.setViewportSize({ width: 660, height: 800 });
      await page.goto('/clients/matrix.html');
      const table = page.locator('.table-scroll[tabindex="0"]').first();
      await table.focus();
      await page.keyboard.press('ArrowRight');
      await expect.poll(() => page.evaluate('document.activeElement.scrollLeft')).toBeGreaterThan(0);
      expect(complaints).toEqual([]);
      await page.context().close();
    });

    it.each(WIDEST)('needs no scrolling sideways on a phone: %s', async (file) => {
      const { page } = await open(`/${file}`);
      await page.setViewportSize({ width: 390, height: 800 });
      const scrolling =
        '[...document.querySelectorAll(".table-scroll")].filter((one) => one.scrollWidth > one.clientWidth)';
      expect(await page.evaluate(`${scrolling}.map((one) => one.innerText.slice(0, 80))`)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      const title = await page.locator('.in-blocks th:nth-child(2)').first().textContent();
      expect(await page.locator('.in-blocks td:nth-child(2):not(:empty)').first().getAttribute('data-label')).toBe(
        title?.trim(),
      );
      await page.context().close();
    });

    it('copies a block of code, and keeps the colours that the reader chose', async () => {
      const { page, complaints } = await open('/');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.locator('button.copy').first().click();
      await expect
        .poll(() => page.evaluate('navigator.clipboard.readText()'))
        .toBe('git clone REPOSITORY_URL coursegate\ncd coursegate\nnpm ci\nnpm start');
      await page.getByRole('switch').first().click();
      await page.goto('/how-it-works.html');
      expect(await page.locator('html').getAttribute('class')).toContain('dark');
      expect(await page.locator('img[src$="sequence-sign-in-dark.svg"]').isVisible()).toBe(true);
      expect(await page.locator('img[src$="sequence-sign-in-light.svg"]').isVisible()).toBe(false);
      expect(complaints).toEqual([]);
      await page.context().close();
    });
  });
});
