import { posix } from 'node:path';
import { targetOf } from './routes.ts';

/** An entry of the sidebar, in the form that VitePress reads. */
export interface Entry {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly Entry[];
}

/** The page from which the sidebar is made, and each group of it. */
export const CONTENTS = 'docs/README.md';

/**
 * The sidebar: a group for each table of docs/README.md, titled by the table's first column or by the heading above it.
 * Below the index page of a folder are the folder's other pages.
 *
 * @param pages the files of this version that are pages, with the page each becomes
 * @param read the text of a file
 */
export function sidebarOf(pages: ReadonlyMap<string, string>, read: (file: string) => string): readonly Entry[] {
  const groups: { text: string; items: Entry[] }[] = [];
  let heading = '';
  for (const line of read(CONTENTS).split('\n')) {
    heading = /^## (.*)$/.exec(line)?.[1] ?? heading;
    const title = /^\|([^|[]*)\| *\|$/.exec(line)?.[1]?.trim();
    if (title !== undefined) groups.push({ text: title || heading, items: [] });
    const [, text, link] = /^\| \[([^\]]+)\]\(([^)]+)\)/.exec(line) ?? [];
    if (text === undefined || link === undefined) continue;
    const target = targetOf(CONTENTS, link, pages);
    if (target.kind !== 'page') continue;
    const below = pagesBelow(posix.join('docs', link), pages, read);
    groups.at(-1)?.items.push({
      text,
      link: target.href,
      ...(below.length > 0 ? { collapsed: true, items: below } : {}),
    });
  }
  return groups.filter(({ items }) => items.length > 0);
}

function pagesBelow(index: string, pages: ReadonlyMap<string, string>, read: (file: string) => string): Entry[] {
  if (!index.endsWith('/README.md') || index === 'config/README.md') return [];
  const folder = posix.dirname(index);
  return [...pages]
    .filter(([file]) => file.startsWith(`${folder}/`) && file !== index)
    .map(([file, page]) => ({ text: titleOf(read(file)), link: `/${page}` }));
}

/** The first heading of a page, without code marks. */
export function titleOf(markdown: string): string {
  return (/^# (.+)$/m.exec(markdown)?.[1] ?? '').replaceAll('`', '');
}
