import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RUNS } from '../bench/support/report.ts';
import { PAGE_FILES, pageOf } from './routes.ts';
import { runCharts } from './runs.ts';

const MEASURED = 'bench/RESULTS.md';

/**
 * Copies the pages and pictures of a version to where VitePress reads them, each under the name of its page.
 *
 * @param tree the files of the version, as in the repository
 * @param folder where the copies go
 * @returns the files that are pages, with the page each becomes
 */
export function stage(tree: string, folder: string): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const file of globSync([...PAGE_FILES], { cwd: tree }).sort()) {
    const page = pageOf(file);
    if (page === undefined) continue;
    pages.set(file, page);
    mkdirSync(dirname(join(folder, page)), { recursive: true });
    cpSync(join(tree, file), join(folder, page));
  }
  drawRuns(tree, join(folder, pageOf(MEASURED) ?? ''));
  for (const [from, to] of [
    ['docs/images', 'public/images'],
    ['site/public', 'public'],
  ] as const) {
    if (existsSync(join(tree, from))) cpSync(join(tree, from), join(folder, to), { recursive: true });
  }
  return pages;
}

/** Draws the last runs of each goal where the page of measurements has room for them. Versions before the history have none. */
function drawRuns(tree: string, page: string): void {
  const history = join(tree, 'bench/history.json');
  if (!existsSync(history) || !existsSync(page)) return;
  const charts = runCharts(JSON.parse(readFileSync(history, 'utf8')));
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(RUNS, () => charts),
  );
}

/** The address of a page below the base of its version: `login/` for `login/index.md`. */
export function addressOf(page: string): string {
  return page.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '.html');
}
