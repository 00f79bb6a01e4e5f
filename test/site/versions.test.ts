import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSite } from '../../site/build.ts';
import { serveFolder } from '../../site/serve.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';

describe('the versions of the documentation site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-versions-'));
  const source = join(folder, 'repository');
  const out = join(folder, 'docs');
  const read = (file: string) => readFileSync(join(out, file), 'utf8');
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(source, file)), { recursive: true });
    writeFileSync(join(source, file), text);
  };
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: source });
  const commit = (tag: string) => {
    git('add', '-A');
    git('commit', '-q', '-m', tag);
    git('tag', tag);
  };

  beforeAll(() => {
    mkdirSync(source, { recursive: true });
    git('init', '-q');
    write('package.json', '{}');
    write('docs/README.md', '# Contents\n\n| Start | |\n| --- | --- |\n| [Quick start](quickstart.md) | Begin |\n');
    commit('v0.9.0');
    write('site/index.md', '# The front\n\n[Begin](../docs/quickstart.md), [code](../src/main.ts)\n');
    write('docs/quickstart.md', '# As it was\n');
    commit('v1.0.0');
    write('docs/quickstart.md', '# As it is\n');
    commit('v1.10.0');
    write('docs/quickstart.md', '# As it will be\n');
    write('docs/added.md', '# Added\n');
    buildSite({ source, out, base: '/docs/', repository: 'https://code.example/coursegate' });
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('are the latest release at the root, a folder for each earlier one, and the checkout', () => {
    expect(read('quickstart.html')).toContain('As it is');
    expect(read('v1.0.0/quickstart.html')).toContain('As it was');
    expect(read('next/quickstart.html')).toContain('As it will be');
    expect(existsSync(join(out, 'added.html'))).toBe(false);
    expect(existsSync(join(out, 'v1.10.0'))).toBe(false);
    // A release from before there was a site.
    expect(existsSync(join(out, 'v0.9.0'))).toBe(false);
  });

  it('lead to the source files of the same version', () => {
    expect(read('index.html')).toContain('href="https://code.example/coursegate/blob/v1.10.0/src/main.ts"');
    expect(read('v1.0.0/index.html')).toContain('href="https://code.example/coursegate/blob/v1.0.0/src/main.ts"');
  });

  it.skipIf(!browserPresent())('lead to the same page of another version, or to its front page', async () => {
    const browser = await launchChromium();
    const server = await serveFolder(folder, 0);
    try {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const choose = async (version: string) => {
        await page.locator('.VPNavBar .version-menu summary').click();
        await page.locator('.VPNavBar .version-menu').getByRole('link', { name: version }).click();
      };
      await page.goto(`${origin}/docs/quickstart.html`);
      expect(await page.locator('.VPNavBar .version-menu a').allTextContents()).toEqual([
        '1.10.0',
        '1.0.0',
        'next (not released)',
      ]);
      await choose('1.0.0');
      await page.waitForURL(`${origin}/docs/v1.0.0/quickstart.html`);
      await page.getByRole('heading', { name: 'As it was' }).waitFor();
      await choose('next');
      await page.waitForURL(`${origin}/docs/next/quickstart.html`);
      await page.goto(`${origin}/docs/next/added.html`);
      await choose('1.10.0');
      await page.waitForURL(`${origin}/docs/`);
      await page.getByRole('heading', { name: 'The front' }).waitFor();
    } finally {
      await browser.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
