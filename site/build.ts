import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installGenerator } from './install.ts';
import { SETTINGS_VARIABLE, type Settings, type Version } from './settings.ts';
import { addressOf, stage } from './stage.ts';
import { checkOut, releasesOf } from './versions.ts';

const SITE = fileURLToPath(new URL('.', import.meta.url));
const CACHE = join(SITE, 'node_modules/.cache');

export interface SiteOptions {
  /** The repository with the pages and the tags. */
  readonly source: string;
  /** Where the site goes. What is there is replaced. */
  readonly out: string;
  /** The path of the site on its server, with a slash at both ends. */
  readonly base: string;
  /** The web address of the repository. Default: `repository` of package.json. */
  readonly repository?: string | undefined;
  /** Leave out what is released. */
  readonly checkoutOnly?: boolean;
}

/**
 * Builds the site. The latest release is at the root, each earlier one in a folder such as /v1.2.0/, and the checkout in
 * /next/. Without releases, the checkout is at the root.
 *
 * @returns the versions, first the one at the root. Throws if a page has a dead link, or VitePress fails
 */
export function buildSite(options: SiteOptions): readonly Version[] {
  installGenerator();
  const { source, out, base } = options;
  // Below VitePress's own packages, where the pages find Vue.
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'build-'));
  try {
    const releases = options.checkoutOnly ? [] : releasesOf(source);
    const found = [
      ...releases.map(({ name, tag }, at) => ({ name, ref: tag, folder: at === 0 ? '' : `${tag}/` })),
      { name: 'next', ref: 'HEAD', folder: releases.length === 0 ? '' : 'next/' },
    ].map((version, at) => {
      const tree = version.ref === 'HEAD' ? source : join(work, `tree-${at}`);
      if (tree !== source) checkOut(source, version.ref, tree);
      const staged = join(work, `pages-${at}`);
      return { ...version, tree, staged, pages: stage(tree, staged) };
    });
    const versions = found.map(({ name, ref, folder, pages }) => ({
      name,
      ref,
      base: base + folder,
      addresses: [...pages.values()].map(addressOf),
    }));
    // The version at the root comes first, because it empties the folder.
    for (const [at, { tree, staged, pages, folder }] of found.entries()) {
      runVitePress({
        staged,
        pages: [...pages],
        tree,
        out: join(out, folder),
        base: base + folder,
        version: versions[at] as Version,
        versions,
        repository: options.repository ?? repositoryOf(source),
      });
    }
    return versions;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** In a process per version: VitePress keeps the renderer of the first. */
function runVitePress(settings: Settings): void {
  execFileSync(process.execPath, [join(SITE, 'node_modules/vitepress/bin/vitepress.js'), 'build', SITE], {
    cwd: SITE,
    env: { ...process.env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** The web address in `repository` of package.json, without what only git needs. */
function repositoryOf(source: string): string | undefined {
  const { repository } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
    repository?: string | { url: string };
  };
  const url = typeof repository === 'string' ? repository : repository?.url;
  return url?.replace(/^git\+/, '').replace(/\.git$/, '');
}
