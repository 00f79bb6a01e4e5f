import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { accessibleTheme } from '../accessible-theme.ts';
import { anchorOf } from '../anchors.ts';
import { sidebarOf } from '../contents.ts';
import { asOnTheCodeHost, type MarkdownIt } from '../markdown.ts';
import { settings } from '../settings.ts';

const { staged, pages: list, tree, out, base, version, versions, repository } = settings();
const pages = new Map(list);
const sidebar = sidebarOf(pages, (file) => readFileSync(join(tree, file), 'utf8'));

export default defineConfig({
  srcDir: staged,
  outDir: out,
  cacheDir: join(staged, '.cache'),
  base,
  lang: 'en',
  title: 'coursegate',
  description: 'Let members connect assistants and apps to your course site, with the login they already have.',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}favicon.svg` }]],
  // The demo's addresses are meant to be opened on the reader's machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    attrs: { disable: true },
    anchor: { slugify: anchorOf },
    languageAlias: { systemd: 'ini', properties: 'ini' },
    config: (md) =>
      asOnTheCodeHost(md as unknown as MarkdownIt, {
        pages,
        repository,
        sourceUrl: (file) => repository && `${repository}/blob/${version.ref}/${file}`,
      }),
  },
  vite: { plugins: [accessibleTheme()], build: { chunkSizeWarningLimit: 2048 } },
  vue: { template: { transformAssetUrls: false } },
  themeConfig: {
    siteTitle: 'coursegate',
    logo: { src: '/favicon.svg', width: 24, height: 24 },
    nav: [
      { text: 'Run a site', link: '/quickstart.md' },
      { text: 'Write an app', link: '/clients.md' },
      { text: 'For members', link: '/for-members.md' },
      { text: 'Reference', link: '/reference/configuration.md' },
      ...(repository === undefined ? [] : [{ text: 'Source', link: repository }]),
    ],
    sidebar: sidebar as never,
    outline: { level: [2, 3], label: 'On this page' },
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        miniSearch: {
          searchOptions: { fuzzy: 0.15, prefix: true, combineWith: 'AND', boost: { title: 4, text: 2, titles: 1 } },
        },
      },
    },
    notFound: {
      title: 'This page does not exist',
      quote: 'It may have moved, or the address has a typing mistake. Press / to search, or start from the front page.',
      linkText: 'Front page',
      linkLabel: 'Front page of the documentation',
    },
    versions: versions.map(({ name, base: path, addresses }) => ({ name, base: path, addresses })),
    version: version.name,
  } as never,
});
