import { type Target, targetOf } from './routes.ts';

/** The parts of markdown-it that the site's rules need; VitePress brings markdown-it itself. */
interface Token {
  type: string;
  tag: string;
  content: string;
  children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
  attrs: [name: string, value: string][] | null;
}
interface State {
  readonly tokens: Token[];
  readonly env: { readonly relativePath?: string };
  readonly Token: new (type: string, tag: string, nesting: -1 | 0 | 1) => Token;
}
export interface MarkdownIt {
  set(options: { linkify: boolean }): void;
  disable(rule: string, ignoreInvalid: boolean): void;
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: State) => void): void;
    };
  };
}

interface Site {
  /** The web address of the repository, if it is known. */
  readonly repository: string | undefined;
  /** The files of this version that are pages, with the page each becomes. */
  readonly pages: ReadonlyMap<string, string>;
  /** The address of a source file at this version, or undefined if the repository has no known address. */
  sourceUrl(file: string): string | undefined;
}

/** Makes VitePress read Markdown as the code host does, and leads links and pictures to where the site has them. */
export function asOnTheCodeHost(md: MarkdownIt, site: Site): void {
  const files = new Map([...site.pages].map(([file, page]) => [page, file]));
  // GitHub does not make a link of "README.md", nor a smiley of ":)".
  md.set({ linkify: false });
  md.disable('emoji', true);
  md.core.ruler.push('links', ({ tokens, env, Token }) => {
    const from = files.get(env.relativePath ?? '') ?? '';
    const resolve = (link: string) => targetOf(from, link, site.pages);
    for (const token of tokens) {
      if (token.type === 'fence' && site.repository !== undefined)
        token.content = token.content.replaceAll('REPOSITORY_URL', site.repository);
      if (token.type === 'html_block') token.content = htmlFor(token.content, resolve, site);
      if (token.children !== null) inlineFor(token.children, resolve, site);
    }
    fittingTables(tokens, Token);
    literally(tokens, Token);
  });
}

function inlineFor(tokens: Token[], resolve: (link: string) => Target, site: Site): void {
  let unlinked = false;
  for (const token of tokens) {
    if (token.type === 'html_inline') token.content = htmlFor(token.content, resolve, site);
    if (token.type === 'image') token.attrSet('src', hrefOf(resolve(token.attrGet('src') ?? ''), site) ?? '');
    if (token.type === 'link_close' && unlinked) token.tag = 'span';
    if (token.type !== 'link_open') continue;
    const target = resolve(token.attrGet('href') ?? '');
    if (target.kind === 'elsewhere') unlinked = false;
    else {
      const href = hrefOf(target, site);
      unlinked = href === undefined;
      if (href !== undefined) token.attrSet('href', href);
      else namesItsFile(token, target);
    }
  }
}

/** Without an address of the repository, the text of a link to a source file stays, and says which file is meant. */
function namesItsFile(token: Token, target: Target): void {
  token.type = 'source_open';
  token.tag = 'span';
  token.attrs = [
    ['class', 'source-file'],
    ['title', target.kind === 'source' ? target.file : ''],
  ];
}

function hrefOf(target: Target, site: Site): string | undefined {
  if (target.kind === 'source') return site.sourceUrl(target.file);
  return target.kind === 'elsewhere' ? undefined : target.href;
}

const ATTRIBUTE = /\b(src|srcset|href)="([^"]+)"/g;

/** HTML in Markdown, with its links and pictures where the site has them. */
function htmlFor(html: string, resolve: (link: string) => Target, site: Site): string {
  const linked = html.replace(ATTRIBUTE, (all, name: string, link: string) => {
    const target = resolve(link);
    if (target.kind === 'elsewhere') return all;
    const href = hrefOf(target, site) ?? '';
    return `${name}="${target.kind === 'page' ? address(href) : href}"`;
  });
  return linked.replace(/<picture>[\s\S]*?<\/picture>/g, inBothSchemes);
}

/** The address of a page: VitePress does this for links of Markdown, but not for those of HTML. */
function address(href: string): string {
  return href.replace(/(?:index)?\.md(#|$)/, (all, end: string) => (all.startsWith('index') ? end : `.html${end}`));
}

/** A picture with a dark version as two pictures, of which the theme shows one: readers can choose another scheme than their system's. */
function inBothSchemes(picture: string): string {
  const dark = /media="\(prefers-color-scheme: dark\)" srcset="([^"]+)"/.exec(picture)?.[1];
  const image = /<img [^>]*>/.exec(picture)?.[0];
  if (dark === undefined || image === undefined) return picture;
  const shown = image.replace('<img ', '<img loading="lazy" ');
  return `${shown.replace('<img ', '<img class="light-only" ')}${shown
    .replace('<img ', '<img class="dark-only" ')
    .replace(/src="[^"]+"/, `src="${dark}"`)}`;
}

/** Characters in a row, from which a table is no longer one on a phone. */
const WIDE = 40;
/** Code that would make its column too wide. */
const UNBROKEN = /\S{32}/;

/**
 * Wide tables scroll by themselves, so that the page does not, and long code in them is broken. On a phone, each of their rows becomes a block, in which
 * `data-label` of a cell says what its column is.
 */
function fittingTables(tokens: Token[], Token: State['Token']): void {
  for (let at = tokens.length - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    if (token?.type === 'table_close') tokens.splice(at + 1, 0, html('</div>', Token));
    if (token?.type !== 'table_open') continue;
    const end = tokens.findIndex(({ type }, index) => index > at && type === 'table_close');
    const wide = label(tokens.slice(at, end)) > WIDE;
    // In place of VitePress's opening tag, which every Tab key stops at.
    tokens[at] = html(`<div class="table-scroll${wide ? ' in-blocks' : ''}"><table>`, Token);
  }
}

/** Labels the cells of a table. Returns the characters of its longest cells, added up over the columns. */
function label(table: readonly Token[]): number {
  const titles: string[] = [];
  const longest: number[] = [];
  let column = 0;
  for (const [at, token] of table.entries()) {
    if (token.type === 'tr_open') column = 0;
    if (token.type !== 'th_open' && token.type !== 'td_open') continue;
    const text = textOf(table[at + 1]);
    if (token.type === 'th_open') titles.push(text);
    else if (column > 0 && text !== '' && titles[column]) token.attrSet('data-label', titles[column] ?? '');
    longest[column] = Math.max(longest[column] ?? 0, text.length);
    for (const part of table[at + 1]?.children ?? [])
      if (part.type === 'code_inline' && UNBROKEN.test(part.content)) part.attrSet('class', 'unbroken');
    column += 1;
  }
  return longest.reduce((sum, length) => sum + length, 0);
}

/** The text of a cell as readers see it. */
function textOf(inline: Token | undefined): string {
  return (inline?.children ?? [])
    .map(({ content }) => content)
    .join('')
    .trim();
}

/** Keeps Vue from reading `{{ }}` and tags in the text. */
function literally(tokens: Token[], Token: State['Token']): void {
  tokens.unshift(html('<div v-pre>', Token));
  tokens.push(html('</div>', Token));
}

function html(content: string, TokenOf: State['Token']): Token {
  const token = new TokenOf('html_block', '', 0);
  token.content = `${content}\n`;
  return token;
}
