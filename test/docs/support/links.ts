import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Page, placeOf } from './markdown.ts';

/** Every link of a page to another file of the project, with its position. */
export function* linksOf({ file, prose }: Page): Generator<{ readonly place: string; readonly target: string }> {
  for (const { number, text } of prose) {
    const bare = text.replace(/`[^`]*`/g, '');
    const found = [
      ...bare.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g),
      ...bare.matchAll(/\b(?:src|href|srcset)="([^"]+)"/g),
      ...bare.matchAll(/^\[[^\]]+\]:\s+(\S+)/g),
    ];
    for (const [, target = ''] of found) {
      if (!/^[a-z][a-z0-9+.-]*:|^\/\//i.test(target)) yield { place: placeOf({ file, line: number }), target };
    }
  }
}

/** Returns a line for each broken link of a page, to a missing file or heading. */
export function deadLinks(page: Page, pages: readonly Page[], root: string): readonly string[] {
  return [...linksOf(page)].flatMap(({ place, target }) => {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page.file : normalize(join(dirname(page.file), decodeURIComponent(path)));
    if (file.startsWith('..')) return [`${place}: ${target} leads out of the project`];
    if (file !== page.file && !existsSync(join(root, file)))
      return [`${place}: ${target} leads to ${file}, which is not there`];
    if (anchor === undefined) return [];
    if (!file.endsWith('.md')) return [`${place}: ${target} names a heading of what has none`];
    const { anchors = new Set<string>() } = [page, ...pages].find((one) => one.file === file) ?? {};
    if (anchors.has(anchor)) return [];
    return [`${place}: ${file} has no heading #${anchor}; it has ${[...anchors].join(', ')}`];
  });
}
