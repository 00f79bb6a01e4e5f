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

/** How far a text has been read, and what has been written of it. */
interface Reading {
  readonly text: string;
  /** The text without tags in its literal parts. */
  readonly masked: string;
  readonly isClosed: (name: string) => boolean;
  readonly out: string[];
  endsLine: boolean;
  at: number;
  lineStart: number;
  hidden: Unfinished['hidden'];
  comment: boolean;
  /** The URL of the link that is open. */
  link: string | undefined;
}

/**
 * Converts the text of an HTML page to what a browser would show of it. Words stay, links become Markdown links, and
 * images become links with their alternative text (or nothing if they have none). Comments, scripts, hidden elements
 * and everything that would be fetched are removed. Tokenizes as a browser does, in linear time. Tags that are not
 * HTML elements stay as written unless one of their attributes has a value.
 */
export class HtmlReader {
  readonly #reading: Reading;
  readonly #tokenizer: Tokenizer;
  #fed = 0;

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
    const text = before.comment === true ? `<!--${given}` : given;
    const masked = maskedIn(text, literal);
    const closes = lastEndTags(masked);
    const isClosed = (name: string) => (closes.get(name) ?? -1) >= reading.at || closesLater(name);
    const { hidden } = before;
    const written = { out: [], endsLine: true, at: 0, lineStart: 0, comment: false, link: undefined };
    const reading: Reading = { text, masked, isClosed, hidden, ...written };
    this.#reading = reading;
    this.#tokenizer = new Tokenizer(
      { sourceCodeLocationInfo: true },
      {
        onStartTag: (token) => {
          const mode = start(reading, token);
          if (mode !== undefined) this.#tokenizer.state = mode;
        },
        onEndTag: (token) => end(reading, token),
        onComment: (token) => comment(reading, token),
        onDoctype: ({ location }) => skip(reading, location),
        onCharacter() {},
        onNullCharacter() {},
        onWhitespaceCharacter() {},
        onEof: () => finish(reading),
      },
    );
  }

  /** Reads up to this many more characters. Returns whether there are more. */
  read(characters: number): boolean {
    const { text, masked } = this.#reading;
    if (!TAG.test(masked)) {
      finish(this.#reading);
      return false;
    }
    const from = this.#fed;
    this.#fed = Math.min(from + characters, text.length);
    const isLast = this.#fed === text.length;
    this.#tokenizer.write(masked.slice(from, this.#fed), isLast);
    return !isLast;
  }

  /** What the text leaves open at its end, for the reader of the next piece. */
  get unfinished(): Unfinished {
    const { hidden, comment } = this.#reading;
    return { hidden, comment };
  }

  get result(): string {
    return this.#reading.out.join('');
  }
}

function emit(reading: Reading, text: string): void {
  if (reading.hidden !== undefined || text === '') return;
  reading.out.push(text);
  reading.endsLine = text.endsWith('\n');
}

function newLine(reading: Reading): void {
  if (!reading.endsLine) emit(reading, '\n');
}

/** Emits the text before a token and continues after the token. Returns the token as it is written. */
function skip(reading: Reading, location: Token.Location | null): string {
  if (location === null) return '';
  const { text, at } = reading;
  const before = text.slice(at, location.startOffset);
  const line = before.lastIndexOf('\n');
  if (line !== -1) reading.lineStart = at + line + 1;
  emit(reading, before);
  reading.at = location.endOffset;
  return text.slice(location.startOffset, location.endOffset);
}

function comment(reading: Reading, { location }: Token.CommentToken): void {
  const source = skip(reading, location);
  // The comment may continue after this text. The tokenizer counts the end of the text as one more character.
  const isLast = (location?.endOffset ?? 0) >= reading.text.length;
  reading.comment = isLast && source.startsWith('<!--') && !/--!?>$/.test(source);
}

/** Returns the state in which the tokenizer reads the content of the element, if it is no ordinary one. */
function start(reading: Reading, token: Token.TagToken): Tokenizer['state'] | undefined {
  const { tagName: name, location } = token;
  const source = skip(reading, location);
  if (isWords(token, source)) {
    emit(reading, asWords(source));
    return undefined;
  }
  const isClosed = reading.isClosed(name);
  if (reading.hidden?.name === name) {
    if (SELF_ENDING.has(name)) reading.hidden = undefined;
    else reading.hidden.depth += 1;
  }
  if (reading.hidden === undefined) {
    if ((UNREAD.has(name) || isHidden(token)) && !VOID.has(name) && isClosed) reading.hidden = { name, depth: 1 };
    else if (isMentioned(token) && !isClosed) emit(reading, `&lt;${source.slice(1)}`);
    else show(reading, token);
  }
  return isClosed ? MODES[name] : undefined;
}

function show(reading: Reading, token: Token.TagToken): void {
  const { tagName: name } = token;
  const heading = /^h([1-6])$/.exec(name)?.[1];
  // A row of a Markdown table has to stay on one line.
  if (name === 'br') emit(reading, reading.text.charAt(reading.lineStart) === '|' ? ' ' : '\n');
  else if (BLOCKS.has(name)) newLine(reading);
  if (heading !== undefined) emit(reading, `${'#'.repeat(Number(heading))} `);
  else if (name === 'li') emit(reading, '- ');
  else if (name === 'img' && !isHidden(token)) image(reading, token);
  else if (name === 'a') {
    closeLink(reading);
    const url = Token.getTokenAttr(token, 'href')?.trim() ?? '';
    if (url === '' || isActive(url) || !reading.isClosed('a')) return;
    emit(reading, '[');
    reading.link = url;
  }
}

function image(reading: Reading, token: Token.TagToken): void {
  const alt = (Token.getTokenAttr(token, 'alt') ?? '')
    .slice(0, LONGEST_ALT)
    .replace(/[[\]<>`\\!&\s]+/g, ' ')
    .trim();
  const url = Token.getTokenAttr(token, 'src')?.trim() ?? '';
  if (alt === '') return;
  const isLink = reading.link === undefined && url !== '' && !isActive(url);
  emit(reading, isLink ? `[${alt}](${asDestination(url)})` : alt);
}

function closeLink(reading: Reading): void {
  if (reading.link === undefined) return;
  emit(reading, `](${asDestination(reading.link)})`);
  reading.link = undefined;
}

function end(reading: Reading, token: Token.TagToken): void {
  const { tagName: name, location } = token;
  const source = skip(reading, location);
  if (isWords(token, source)) emit(reading, asWords(source));
  else if (reading.hidden !== undefined) {
    if (reading.hidden.name !== name) return;
    reading.hidden.depth -= 1;
    if (reading.hidden.depth === 0) reading.hidden = undefined;
  } else if (name === 'a') closeLink(reading);
  else if (name === 'td' || name === 'th') emit(reading, ' ');
  else if (BLOCKS.has(name)) newLine(reading);
}

/** An unfinished tag at the end is text, but must not become a tag together with what may follow it. */
function finish(reading: Reading): void {
  const rest = reading.text.slice(reading.at);
  const open = reading.masked.slice(reading.at).search(TAG);
  const tag = open === -1 ? '' : rest.slice(open);
  const isHarmless = /^<[a-z][^=<]*$/i.test(tag);
  emit(reading, open === -1 || isHarmless ? rest : rest.slice(0, open) + withoutTags(tag));
  closeLink(reading);
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
