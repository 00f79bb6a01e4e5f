import { posix } from 'node:path';

/** Which Markdown files are pages of the site, and the page that each becomes. The first line that fits counts. */
const ROUTES: readonly (readonly [file: RegExp, page: string])[] = [
  [/^site\/index\.md$/, 'index.md'],
  [/^docs\/README\.md$/, 'contents.md'],
  [/^docs\/(.+)\/README\.md$/, '$1/index.md'],
  [/^docs\/(.+\.md)$/, '$1'],
  [/^config\/README\.md$/, 'reference/configuration.md'],
  [/^schema\/README\.md$/, 'mapping.md'],
  [/^schema\/REFERENCE\.md$/, 'reference/mappings.md'],
  [/^helm\/coursegate\/README\.md$/, 'reference/chart.md'],
  [/^integrations\/README\.md$/, 'integrations/index.md'],
  [/^integrations\/([\w-]+)\/README\.md$/, 'integrations/$1.md'],
  [/^CONTRIBUTING\.md$/, 'project/contributing.md'],
  [/^CHANGELOG\.md$/, 'project/changelog.md'],
  [/^SECURITY\.md$/, 'project/security-policy.md'],
  [/^bench\/RESULTS\.md$/, 'project/measurements.md'],
];

/** Where the files of ROUTES are, for a search of the file system. */
export const PAGE_FILES: readonly string[] = [
  'site/index.md',
  'docs/**/*.md',
  '{config,schema,integrations}/*.md',
  '{integrations,helm}/*/README.md',
  '*.md',
  'bench/RESULTS.md',
];

/** @returns the page that a file of the repository becomes, such as `login/index.md`, or undefined if it becomes none. */
export function pageOf(file: string): string | undefined {
  const found = ROUTES.find(([pattern]) => pattern.test(file));
  return found && file.replace(found[0], found[1]);
}

/** Where a link of the repository leads on the site. */
export type Target =
  | { readonly kind: 'page'; readonly href: string }
  | { readonly kind: 'image'; readonly href: string }
  /** A file that the site does not have: `file` is its path in the repository. */
  | { readonly kind: 'source'; readonly file: string }
  | { readonly kind: 'elsewhere' };

/**
 * Resolves a link as a reader on the code host would.
 *
 * @param from the file that contains the link, such as `docs/login/README.md`
 * @param link as written: a relative path, perhaps with an anchor, or a URL
 * @param pages the files of this version that are pages, with the page each becomes
 */
export function targetOf(from: string, link: string, pages: ReadonlyMap<string, string>): Target {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/|#)/i.test(link)) return { kind: 'elsewhere' };
  const [path = '', anchor] = link.split('#');
  const file = posix.join(posix.dirname(from), decodeURI(path)).replace(/\/$/, '');
  const page = file === 'README.md' ? 'index.md' : (pages.get(file) ?? pages.get(`${file}/README.md`));
  if (page !== undefined) return { kind: 'page', href: `/${page}${anchor === undefined ? '' : `#${anchor}`}` };
  const image = /^docs\/images\/(.+)$/.exec(file)?.[1];
  if (image !== undefined) return { kind: 'image', href: `/images/${image}` };
  return { kind: 'source', file };
}
