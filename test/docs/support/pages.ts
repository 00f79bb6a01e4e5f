import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Block, type Page, readMarkdown } from './markdown.ts';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Folders of other projects, or that are not committed. */
const LEFT_OUT = new Set(['node_modules', '.installed', '.git', 'artefacts', 'data', 'dist', 'build']);

/** Every Markdown file of the project. */
export const PAGES: readonly Page[] = markdownFiles(ROOT)
  .map((path) => relative(ROOT, path))
  .sort()
  .map((file) => readMarkdown(file, readFileSync(join(ROOT, file), 'utf8')));

export const BLOCKS: readonly Block[] = PAGES.flatMap((page) => page.blocks);

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return markdownFiles(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}
