import { Token, Tokenizer } from 'parse5';
import { asWords, BLOCKS, isHidden, isMentioned, isWords, MODES, SELF_ENDING, UNREAD, VOID } from './html-elements.ts';
import { lastEndTags, TAG, withoutTags } from './html-tags.ts';
import type { Range } from './markdown.ts';
import { asDestination, isActive } from './urls.ts';

const LONGEST_ALT = 2000;

/** State at the end of a piece of text that continues in the next piece. */
export interface Unfinished {
  readonly hidden?: { readonly name: string; depth: number } | undefined;
  readonly comment?: boolean;
}

/**
 * Converts the text of an HTML page to what a browser would show of it. Words stay, links become Markdown links, and
 * images become links with their alternative text (or nothing if they have none). Comments, scripts, hidden elements
 * and everything that would be fetched are removed. Tokenizes as a browser does, in linear time. Tags that are not
 * HTML elements stay as written unless one of their attributes has a value.
 */
export class HtmlReader {
  readonly #text: string;
  /** The text without tags in its literal parts. */
  readonly #masked: string;
  readonly #isClosed: (name: string) => boolean;
  readonly #tokenizer: Tokenizer;
  readonly #out: string[] = [];
  #endsLine = true;
  #fed = 0;
  /** Up to where tokens have been read. */
  #at = 0;
  #lineStart = 0;
  #hidden: Unfinished['hidden'];
  #comment = false;
  /** The URL of the link that is open. */
  #link: string | undefined;

  /**
   * @param literal the parts of the text in which there are no tags
   * @param before if the text is a further piece of a longer one: what the reader of the previous piece left open
   * @param closesLater whether an element is closed in a later piece
   */
  constructor(
    given: string,
    literal: readonly Range[],
    before: Unfinished = {},
    closesLater: (name: string) => boolean = () => false,
  ) {
    this.#text = before.comment === true ? `<!--${given}` : given;
    this.#masked = maskedIn(this.#text, literal);
    this.#hidden = before.hidden;
    const closes = lastEndTags(this.#masked);
    this.#isClosed = (name) => (closes.get(name) ?? -1) >= this.#at || closesLater(name);
    this.#tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onStartTag: (token) => this.#start(token),
        onEndTag: (token) => this.#end(token),
        onComment: (token) => this.#readComment(token),
        onDoctype: ({ location }) => this.#skip(location),
        onCharacter() {},
        onNullCharacter() {},
        onWhitespaceCharacter() {},
        onEof: () => this.#finish(),
      },
    );
  }

  /** Reads up to this many more characters. Returns whether there are more. */
  read(characters: number): boolean {
    if (!TAG.test(this.#masked)) {
      this.#finish();
      return false;
    }
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

  /** Emits the text before a token and continues after the token. Returns the token as it is written. */
  #skip(location: Token.Location | null): string {
    if (location === null) return '';
    const before = this.#text.slice(this.#at, location.startOffset);
    const line = before.lastIndexOf('\n');
    if (line !== -1) this.#lineStart = this.#at + line + 1;
    this.#emit(before);
    this.#at = location.endOffset;
    return this.#text.slice(location.startOffset, location.endOffset);
  }

  #readComment({ location }: Token.CommentToken): void {
    const source = this.#skip(location);
    // The comment may continue after this text. The tokenizer counts the end of the text as one more character.
    const isLast = (location?.endOffset ?? 0) >= this.#text.length;
    this.#comment = isLast && source.startsWith('<!--') && !/--!?>$/.test(source);
  }

  #start(token: Token.TagToken): void {
    const { tagName: name, location } = token;
    const source = this.#skip(location);
    if (isWords(token, source)) {
      this.#emit(asWords(source));
      return;
    }
    const isClosed = this.#isClosed(name);
    if (this.#hidden?.name === name) {
      if (SELF_ENDING.has(name)) this.#hidden = undefined;
      else this.#hidden.depth += 1;
    }
    if (this.#hidden === undefined) {
      if ((UNREAD.has(name) || isHidden(token)) && !VOID.has(name) && isClosed) this.#hidden = { name, depth: 1 };
      else if (isMentioned(token) && !isClosed) this.#emit(`&lt;${source.slice(1)}`);
      else this.#show(token);
    }
    // How the tokenizer reads the content of an element that is no ordinary one.
    const mode = isClosed ? MODES[name] : undefined;
    if (mode !== undefined) this.#tokenizer.state = mode;
  }

  #show(token: Token.TagToken): void {
    const { tagName: name } = token;
    const heading = /^h([1-6])$/.exec(name)?.[1];
    // A row of a Markdown table has to stay on one line.
    if (name === 'br') this.#emit(this.#text.charAt(this.#lineStart) === '|' ? ' ' : '\n');
    else if (BLOCKS.has(name)) this.#newLine();
    if (heading !== undefined) this.#emit(`${'#'.repeat(Number(heading))} `);
    else if (name === 'li') this.#emit('- ');
    else if (name === 'img' && !isHidden(token)) this.#showImage(token);
    else if (name === 'a') {
      this.#closeLink();
      const url = urlIn(token, 'href');
      if (url === undefined || !this.#isClosed('a')) return;
      this.#emit('[');
      this.#link = url;
    }
  }

  #showImage(token: Token.TagToken): void {
    const alt = (Token.getTokenAttr(token, 'alt') ?? '')
      .slice(0, LONGEST_ALT)
      .replace(/[[\]<>`\\!&\s]+/g, ' ')
      .trim();
    const url = this.#link === undefined ? urlIn(token, 'src') : undefined;
    this.#emit(alt === '' || url === undefined ? alt : `[${alt}](${asDestination(url)})`);
  }

  #closeLink(): void {
    if (this.#link === undefined) return;
    this.#emit(`](${asDestination(this.#link)})`);
    this.#link = undefined;
  }

  #end(token: Token.TagToken): void {
    const { tagName: name, location } = token;
    const source = this.#skip(location);
    if (isWords(token, source)) this.#emit(asWords(source));
    else if (this.#hidden !== undefined) {
      if (this.#hidden.name !== name) return;
      this.#hidden.depth -= 1;
      if (this.#hidden.depth === 0) this.#hidden = undefined;
    } else if (name === 'a') this.#closeLink();
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

/** The URL in an attribute; undefined if there is none to link to. */
function urlIn(token: Token.TagToken, attribute: 'href' | 'src'): string | undefined {
  const url = Token.getTokenAttr(token, attribute)?.trim() ?? '';
  return url === '' || isActive(url) ? undefined : url;
}

/**
 * The text with `<` and `&` masked in its literal parts, so that no tag or character reference starts there. Positions
 * do not change.
 */
function maskedIn(text: string, literal: readonly Range[]): string {
  let [at, out] = [0, ''];
  for (const { from, to } of literal) {
    out += text.slice(at, from) + text.slice(from, to).replace(/[<&]/g, '_');
    at = to;
  }
  return out + text.slice(at);
}
