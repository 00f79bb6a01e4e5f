import { html, Token, Tokenizer, TokenizerMode } from 'parse5';
import type { Range } from './markdown.ts';
import { asDestination, isActive } from './urls.ts';

/** Anything that some HTML reader may take for the start of a tag or a comment. */
export const TAG = /<[a-z/!?]/i;

/** Elements whose content is not text of the page (HTML section 13.1.2) or is drawn instead of read. */
const UNREAD = new Set(['script', 'style', 'template', 'iframe', 'noembed', 'noframes', 'svg', 'datalist', 'applet']);
/** Tokenizer states for their content (HTML section 13.2.6.4). */
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
/** These end at the next element of the same name, whether or not they are closed. */
const SELF_ENDING = new Set(['p', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'option']);
const HIDDEN_STYLE =
  /display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|(?:opacity|font-size):0?\.?0*(?:[a-z%]*)(?:;|!|$)/;
const LONGEST_STYLE = 2000;
const LONGEST_ALT = 2000;

/** Whether a tag name is an HTML element: in `List<String>` and `<your-name>` the brackets are part of the text. */
function isElement(name: string): boolean {
  return html.getTagID(name) !== html.TAG_ID.UNKNOWN || OTHERS.has(name);
}
/** HTML elements that the parser has no special rules for. */
const OTHERS = new Set(
  'abbr acronym audio bdi bdo blink canvas cite content data datalist del dfn dialog ins isindex kbd label legend map meter mark output picture portal progress q rb rp rt rtc ruby samp selectedcontent slot sub sup time tfoot var video spacer strike'.split(
    ' ',
  ),
);

/** State at the end of a piece of text that continues in the next piece. */
export interface Unfinished {
  readonly hidden?: { readonly name: string; depth: number } | undefined;
  readonly comment?: boolean;
}

/** Positions of the last end tag of each element. */
export function lastEndTags(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = text.indexOf('</'); at !== -1; at = text.indexOf('</', at + 2)) {
    const name = END_TAG_NAME.exec(text.slice(at + 2, at + 2 + LONGEST_NAME))?.[0].toLowerCase();
    if (name !== undefined && isElement(name)) found.set(name, at);
  }
  return found;
}
const END_TAG_NAME = /^[a-z][a-z0-9]*/i;
/** Longest name of an HTML element. */
const LONGEST_NAME = 20;

/**
 * Converts the text of an HTML page to what a browser would show of it. Words stay, links become Markdown links, and
 * images become links with their alternative text (or nothing if they have none). Comments, scripts, hidden elements
 * and everything that would be fetched are removed. Tokenizes as a browser does, in linear time. Tags that are not
 * HTML elements stay as written unless one of their attributes has a value.
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
  /** Position of the last end tag by element name. */
  readonly #closes: ReadonlyMap<string, number>;

  /**
   * @param literal the parts of the text in which there are no tags
   * @param before if the text is a further piece of a longer one: what the reader of the previous piece left open
   * @param closesLater whether an element is closed in a later piece
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

  /** Reads up to this many more characters. Returns whether there are more. */
  read(characters: number): boolean {
    const from = this.#fed;
    this.#fed = Math.min(from + characters, this.#text.length);
    const isLast = this.#fed === this.#text.length;
    this.#tokenizer.write(this.#masked.slice(from, this.#fed), isLast);
    return !isLast;
  }

  /** What the text leaves open at its end, for the reader of the next piece. */
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

  /** Emits the text before a token and continues after the token. */
  #skip(location: Token.Location | null): void {
    if (location === null) return;
    const before = this.#text.slice(this.#at, location.startOffset);
    const line = before.lastIndexOf('\n');
    if (line !== -1) this.#lineStart = this.#at + line + 1;
    this.#emit(before);
    this.#at = location.endOffset;
  }

  /** A row of a Markdown table has to stay on one line. */
  #isInTable(): boolean {
    return this.#text.charAt(this.#lineStart) === '|';
  }

  #isClosed(name: string): boolean {
    return (this.#closes.get(name) ?? -1) >= this.#at || this.#closesLater(name);
  }

  /** Whether a comment continues beyond the end of the text. */
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

  /** An unfinished tag at the end is text, but must not become a tag together with what may follow it. */
  #finish(): void {
    const rest = this.#text.slice(this.#at);
    const open = this.#masked.slice(this.#at).search(TAG);
    const tag = open === -1 ? '' : rest.slice(open);
    const isHarmless = /^<[a-z][^=<]*$/i.test(tag);
    this.#emit(open === -1 || isHarmless ? rest : rest.slice(0, open) + withoutTags(tag));
    this.#closeLink();
  }
}

/** Whether angle brackets are part of the prose instead of a tag. A tag with an attribute value never is. */
function isWords({ tagName: name, attrs }: Token.TagToken, source: string): boolean {
  if (attrs.some(({ value }) => value !== '')) return false;
  if (!isElement(name)) return /^<\/?[^/=]*\/?>$/.test(source);
  if (UNREAD.has(name) || Object.hasOwn(MODES, name)) return false;
  // `List<Object>`, `<Button>`, and "a <b and c> d".
  if (attrs.length === 0) return /^<\/?[A-Z][A-Za-z]*[a-z][A-Za-z]*>$/.test(source);
  return attrs.length > 0 && !attrs.some((attr) => attr.name === 'hidden') && !VOID.has(name);
}

/**
 * Escapes a second angle bracket inside the first, as in `Map<String, List<Course>>`, which Markdown takes for the
 * start of a tag.
 */
function asWords(source: string): string {
  const inner = source.slice(1).replace(/<([a-z/!?][^<>]*)(?=(>?))/gi, (tag: string, name: string, end: string) => {
    const isName = end !== '' && /^[A-Z][A-Za-z]*[a-z][A-Za-z]*$/.test(name);
    const isRead = !UNREAD.has(name.toLowerCase()) && !Object.hasOwn(MODES, name.toLowerCase());
    return isName && isRead ? tag : `&lt;${name}`;
  });
  return source.slice(0, 1) + inner;
}

/** A tag that is only mentioned, as in "the <b> tag": HTML requires an end tag, and there is none. */
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

/**
 * The text with `<` and `&` masked in its literal parts, so that no tag or character reference starts there. Positions
 * do not change.
 */
function masked(text: string, literal: readonly Range[]): string {
  let [at, out] = [0, ''];
  for (const { from, to } of literal) {
    out += text.slice(at, from) + text.slice(from, to).replace(/[<&]/g, '_');
    at = to;
  }
  return out + text.slice(at);
}

/** The tokenizer compares each attribute of a tag with all attributes before it. */
const MOST_SEPARATORS = 1000;

/** Turns tags with an excessive number of attributes into text. */
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

/**
 * Replaces `<` by an entity wherever a tag could start (HTML section 13.5), so that the result contains no tag in any
 * context.
 */
export function withoutTags(text: string): string {
  return text.replace(/<(?=[a-z/!?])/gi, '&lt;');
}
