import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parse } from 'parse5';

interface Element {
  readonly tagName?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Element[];
}

/** A page of the built site. */
export interface BuiltPage {
  /** The path of its file, such as `login/index.html`. */
  readonly file: string;
  /** What its links, pictures, scripts and styles name. */
  readonly references: readonly { readonly tag: string; readonly url: string }[];
  readonly ids: ReadonlySet<string>;
  /** The levels of its headings, in order. */
  readonly headings: readonly number[];
}

export function builtPages(folder: string): readonly BuiltPage[] {
  return globSync('**/*.html', { cwd: folder })
    .sort()
    .map((file) => read(file, readFileSync(join(folder, file), 'utf8')));
}

function read(file: string, html: string): BuiltPage {
  const references: { tag: string; url: string }[] = [];
  const ids = new Set<string>();
  const headings: number[] = [];
  const visit = (element: Element) => {
    const tag = element.tagName ?? '';
    const level = /^h([1-6])$/.exec(tag)?.[1];
    if (level !== undefined) headings.push(Number(level));
    for (const { name, value } of element.attrs ?? []) {
      if (name === 'id') ids.add(value);
      if (name === 'href' || name === 'src') references.push({ tag, url: value });
      if (name === 'srcset') references.push({ tag, url: value.split(' ')[0] ?? '' });
    }
    for (const child of element.childNodes ?? []) visit(child);
  };
  visit(parse(html) as unknown as Element);
  return { file, references, ids, headings };
}

/** A line for each link within the site that leads to no file, or to no element of the page. */
export function deadReferences(pages: readonly BuiltPage[], files: ReadonlySet<string>): readonly string[] {
  const byFile = new Map(pages.map((page) => [page.file, page]));
  return pages.flatMap(({ file, references }) =>
    references.flatMap(({ url }) => {
      if (/^(?:[a-z]+:|\/\/)/i.test(url)) return [];
      const [path = '', anchor] = url.split('#');
      const to = path === '' ? file : posix.join(path.startsWith('/') ? '.' : posix.dirname(file), decodeURI(path));
      const target = to === './' || to === '.' ? 'index.html' : to.replace(/\/$/, '/index.html');
      if (!files.has(target)) return [`${file}: ${url} leads to no file`];
      if (anchor === undefined || byFile.get(target)?.ids.has(decodeURIComponent(anchor))) return [];
      return [`${file}: ${target} has no #${anchor}`];
    }),
  );
}
