import { html, Token, Tokenizer, TokenizerMode } from 'parse5';
import type { Range } from './markdown.ts';
import { asDestination, isActive } from './urls.ts';

/** What may be a tag or a comment to some reader of HTML. */
export const TAG = /<[a-z/!?]/i;

/** Elements whose content is no text of the page (HTML §13.1.2), or is drawn rather than read. */
const UNREAD = new Set(['script', 'style', 'template', 'iframe', 'noembed', 'noframes', 'svg', 'datalist', 'applet']);
/** How the tokenizer reads their content (HTML §13.2.6.4). */
const MODES: Readonly<Record<string, number>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
};
const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
);
const BLOCKS = new Set(
  'address article aside blockquote caption dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol p pre section summary table tbody tfoot thead tr ul'.split(
    ' ',
  ),
);
/** One of these ends at the next of its kind, whether or not it is closed. */
const SELF_ENDING = new Set(['p', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'option']);
const HIDDEN_STYLE =
  /display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|(?:opacity|font-size):0?\.?0*(?:[a-z%]*)(?:;|!|$)/;
const LONGEST_STYLE = 2000;
const LONGEST_ALT = 2000;

/** Whether a tag's name is one of HTML's: `List<String>` and `<your-name>` are words. */
function isElement(name: string): boolean {
  return html.getTagID(name) !== html.TAG_ID.UNKNOWN || OTHERS.has(name);
}
/** Those that the parser has no rules for. */
const OTHERS = new Set(
  'abbr acronym audio bdi bdo blink canvas cite content data datalist del dfn dialog ins isindex kbd label legend map meter mark output picture portal progress q rb rp rt rtc ruby samp selectedcontent slot sub sup time tfoot var video spacer strike'.split(
    ' ',
  ),
);

/** What a piece of a text leaves open. */
export interface Unfinished {
  readonly hidden?: { readonly name: string; depth: number } | undefined;
  readonly comment?: boolean;
}

/** Where the last end tag of each element begins. */
export function lastEndTags(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = text.indexOf('</'); at !== -1; at = text.indexOf('</', at + 2)) {
    const name = END_TAG_NAME.exec(text.slice(at + 2, at + 2 + LONGEST_NAME))?.[0].toLowerCase();
    if (name !== undefined && isElement(name)) found.set(name, at);
  }
  return found;
}
const END_TAG_NAME = /^[a-z][a-z0-9]*/i;
/** Of an element of HTML. */
const LONGEST_NAME = 20;

/**
 * What a page of this text shows, as text: words stay, links are Markdown's, images are links with their alternative
 * text, or nothing without one; comments, scripts, hidden elements and everything that would be fetched are gone. Reads the text as a browser's
 * tokenizer does, in linear time. Tags that are not HTML's stay as they are written, unless one has a value in it.
 */
export class HtmlReader {
  readonly #text: string;
  readonly #tokenizer: Tokenizer;
  readonly #out: string[] = [];
  readonly #masked: string;
  #endsLine = true;
  #at = 0;
  #lineStart = 0;
  #fed = 0;
  #hidden: Unfinished['hidden'];
  #comment = false;
  readonly #closesLater: (name: string) => boolean;
  #link: string | undefined;
  /** Where the last end tag of a name is. */
  readonly #closes: ReadonlyMap<string, number>;

  /**
   * `literal`: the parts in which there are no tags. `before`: where the text is the next piece of a longer one, what the
   * reader of the piece before left open; `closesLater`: whether an element ends in a piece behind this one.
   */
  constructor(
    text: string,
    literal: readonly Range[],
    before: Unfinished = {},
    closesLater: (name: string) => boolean = () => false,
  ) {
    this.#text = before.comment === true ? `<!--${text}` : text;
    this.#hidden = before.hidden;
    this.#closesLater = closesLater;
    this.#masked = masked(this.#text, literal);
    this.#closes = lastEndTags(this.#masked);
    const drop = ({ location }: Token.CommentToken | Token.DoctypeToken) => this.#skip(location);
    const comment = (token: Token.CommentToken) => {
      this.#comment = this.#isOpen(token);
      drop(token);
    };
    this.#tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onStartTag: (token) => this.#start(token),
        onEndTag: (token) => this.#end(token),
        onComment: comment,
        onDoctype: drop,
        onCharacter() {},
        onNullCharacter() {},
        onWhitespaceCharacter() {},
        onEof: () => this.#finish(),
      },
    );
  }

  /** Reads so many more characters. Returns whether there are more. */
  read(characters: number): boolean {
    const from = this.#fed;
    this.#fed = Math.min(from + characters, this.#text.length);
    const isLast = this.#fed === this.#text.length;
    this.#tokenizer.write(this.#masked.slice(from, this.#fed), isLast);
    return !isLast;
  }

  /** What the text left open at its end, for the piece that follows it. */
  get unfinished(): Unfinished {
    return { hidden: this.#hidden, comment: this.#comment };
  }

  get result(): string {
    return this.#out.join('');
  }

  #emit(text: string): void {
    if (this.#hidden !== undefined || text === '') return;
    this.#out.push(text);
    this.#endsLine = text.endsWith('\n');
  }

  #newLine(): void {
    if (!this.#endsLine) this.#emit('\n');
  }

  /** Emits what stands before a token, and goes on behind it. */
  #skip(location: Token.Location | null): void {
    if (location === null) return;
    const before = this.#text.slice(this.#at, location.startOffset);
    const line = before.lastIndexOf('\n');
    if (line !== -1) this.#lineStart = this.#at + line + 1;
    this.#emit(before);
    this.#at = location.endOffset;
  }

  /** A row of a Markdown table is one line. */
  #isInTable(): boolean {
    return this.#text.charAt(this.#lineStart) === '|';
  }

  #isClosed(name: string): boolean {
    return (this.#closes.get(name) ?? -1) >= this.#at || this.#closesLater(name);
  }

  /** Whether a comment goes on behind the text. */
  #isOpen({ location }: Token.CommentToken): boolean {
    if (location?.endOffset !== this.#text.length) return false;
    const source = this.#text.slice(location.startOffset);
    return source.startsWith('<!--') && !/--!?>$/.test(source);
  }

  #start(token: Token.TagToken): void {
    const { tagName: name, location } = token;
    const source = location === null ? '' : this.#text.slice(location.startOffset, location.endOffset);
    this.#skip(location);
    if (isWords(token, source)) {
      this.#emit(asWords(source));
      return;
    }
    const mode = MODES[name];
    if (mode !== undefined && this.#isClosed(name)) this.#tokenizer.state = mode;
    if (this.#hidden !== undefined) {
      if (this.#hidden.name === name && SELF_ENDING.has(name)) this.#hidden = undefined;
      else if (this.#hidden.name === name) this.#hidden.depth += 1;
      if (this.#hidden !== undefined) return;
    }
    if ((UNREAD.has(name) || isHidden(token)) && !VOID.has(name) && this.#isClosed(name)) {
      this.#hidden = { name, depth: 1 };
      return;
    }
    if (isMentioned(token) && !this.#isClosed(name)) this.#emit(`&lt;${source.slice(1)}`);
    else this.#show(token);
  }

  #show(token: Token.TagToken): void {
    const { tagName: name } = token;
    const heading = /^h([1-6])$/.exec(name)?.[1];
    if (name === 'br') this.#emit(this.#isInTable() ? ' ' : '\n');
    else if (BLOCKS.has(name)) this.#newLine();
    if (heading !== undefined) this.#emit(`${'#'.repeat(Number(heading))} `);
    else if (name === 'li') this.#emit('- ');
    else if (name === 'img' && !isHidden(token)) this.#image(token);
    else if (name === 'a') {
      this.#closeLink();
      const url = Token.getTokenAttr(token, 'href')?.trim() ?? '';
      if (url === '' || isActive(url) || !this.#isClosed('a')) return;
      this.#emit('[');
      this.#link = url;
    }
  }

  #image(token: Token.TagToken): void {
    const alt = (Token.getTokenAttr(token, 'alt') ?? '')
      .slice(0, LONGEST_ALT)
      .replace(/[[\]<>`\\!&\s]+/g, ' ')
      .trim();
    const url = Token.getTokenAttr(token, 'src')?.trim() ?? '';
    if (alt === '') return;
    const isLink = this.#link === undefined && url !== '' && !isActive(url);
    this.#emit(isLink ? `[${alt}](${asDestination(url)})` : alt);
  }

  #closeLink(): void {
    if (this.#link === undefined) return;
    this.#emit(`](${asDestination(this.#link)})`);
    this.#link = undefined;
  }

  #end(token: Token.TagToken): void {
    const { tagName: name, location } = token;
    const source = location === null ? '' : this.#text.slice(location.startOffset, location.endOffset);
    this.#skip(location);
    if (isWords(token, source)) {
      this.#emit(asWords(source));
      return;
    }
    if (this.#hidden !== undefined) {
      if (this.#hidden.name !== name) return;
      this.#hidden.depth -= 1;
      if (this.#hidden.depth === 0) this.#hidden = undefined;
      return;
    }
    if (name === 'a') this.#closeLink();
    else if (name === 'td' || name === 'th') this.#emit(' ');
    else if (BLOCKS.has(name)) this.#newLine();
  }

  /** A tag that never ends is words, but must not become a tag by what comes to stand behind it. */
  #finish(): void {
    const rest = this.#text.slice(this.#at);
    const open = this.#masked.slice(this.#at).search(TAG);
    const tag = open === -1 ? '' : rest.slice(open);
    const isHarmless = /^<[a-z][^=<]*$/i.test(tag);
    this.#emit(open === -1 || isHarmless ? rest : rest.slice(0, open) + withoutTags(tag));
    this.#closeLink();
  }
}

/** Whether something in angle brackets is what somebody wrote rather than a tag. Nothing with a value in it is. */
function isWords({ tagName: name, attrs }: Token.TagToken, source: string): boolean {
  if (attrs.some(({ value }) => value !== '')) return false;
  if (!isElement(name)) return /^<\/?[^/=]*\/?>$/.test(source);
  if (UNREAD.has(name) || Object.hasOwn(MODES, name)) return false;
  // List<Object>, <Button>; and "a <b and c> d".
  if (attrs.length === 0) return /^<\/?[A-Z][A-Za-z]*[a-z][A-Za-z]*>$/.test(source);
  return attrs.length > 0 && !attrs.some((attr) => attr.name === 'hidden') && !VOID.has(name);
}

/** With another angle bracket in it, as in Map<String, List<Course>>, which Markdown takes for the beginning of a tag. */
function asWords(source: string): string {
  const inner = source.slice(1).replace(/<([a-z/!?][^<>]*)(?=(>?))/gi, (tag: string, name: string, end: string) => {
    const isName = end !== '' && /^[A-Z][A-Za-z]*[a-z][A-Za-z]*$/.test(name);
    const isRead = !UNREAD.has(name.toLowerCase()) && !Object.hasOwn(MODES, name.toLowerCase());
    return isName && isRead ? tag : `&lt;${name}`;
  });
  return source.slice(0, 1) + inner;
}

/** "The <b> tag": one that nothing ever ends, where HTML wants an end. */
function isMentioned({ tagName: name, attrs }: Token.TagToken): boolean {
  return attrs.length === 0 && !VOID.has(name) && !BLOCKS.has(name) && !SELF_ENDING.has(name);
}

function isHidden(token: Token.TagToken): boolean {
  if (Token.getTokenAttr(token, 'hidden') !== null) return true;
  const style = Token.getTokenAttr(token, 'style');
  if (style === null) return false;
  const bare = style
    .slice(0, LONGEST_STYLE)
    .toLowerCase()
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/|\s+/g, '');
  return bare.includes('\\') || HIDDEN_STYLE.test(bare);
}

/** The text with nothing in its literal parts that begins a tag or a reference, every character where it was. */
function masked(text: string, literal: readonly Range[]): string {
  let [at, out] = [0, ''];
  for (const { from, to } of literal) {
    out += text.slice(at, from) + text.slice(from, to).replace(/[<&]/g, '_');
    at = to;
  }
  return out + text.slice(at);
}

/** The tokenizer compares every attribute of a tag with all before it. */
const MOST_SEPARATORS = 1000;

/** Makes words of what would be a tag of more attributes than any has. */
export function withoutGiantTags(text: string): string {
  const parts = text.split('>');
  return parts
    .map((part) => {
      const open = part.search(/<[a-z]/i);
      if (open === -1 || part.length - open <= MOST_SEPARATORS) return part;
      return hasManySeparators(part.slice(open)) ? withoutTags(part) : part;
    })
    .join('>');
}

function hasManySeparators(text: string): boolean {
  const separator = /[\s/"'=]+/g;
  for (let count = 0; count <= MOST_SEPARATORS; count += 1) if (!separator.test(text)) return false;
  return true;
}

/** No tag, in whatever this is put: every place where one could begin is an entity (HTML §13.5). */
export function withoutTags(text: string): string {
  return text.replace(/<(?=[a-z/!?])/gi, '&lt;');
}
