import { Turns } from '../http/turns.ts';
import { visible } from './characters.ts';
import { HtmlReader, lastEndTags, TAG, type Unfinished, withoutGiantTags, withoutTags } from './html.ts';
import { BANGS, isSimple, literalParts, withoutImages, withoutLinks } from './markdown.ts';

/*
 * What text of the school may bring into a model's context: words. They are data, whatever they say. What an app would
 * fetch, run or hide does not pass: images, HTML, scripts, comments, and characters that nobody sees but a model reads.
 */

/** Letters of Europe, digits and ordinary signs, in which there is nothing to take out unless SUSPECT finds it: most texts. */
const PLAIN = /^[\t\n -~\u00A0-\u00AC\u00AE-\u024F\u2010-\u2027]*$/;
const SUSPECT = /<[a-z/!?]|!\[|\]\((?!https?:\/\/|\/|#)|\]:(?!\s*https?:\/\/)|(?:script|data):\S/i;

/** Characters of one result that are parsed. Beyond them nothing is taken for code, and no link stays one. */
const MOST_PARSED = 256 * 1024;
/** Characters that the HTML tokenizer reads in one step: about a millisecond. */
const STEP = 16 * 1024;
/** Characters of one piece of a text that is not parsed as a whole: some milliseconds. */
const PIECE = 32 * 1024;

/** How a text is given on: whole, so that its code may hold anything; or in parts that may begin anywhere in it. */
type Use = 'whole' | 'parts';

/** Cleans the texts of one value, in turns of the event loop. */
class Cleaner {
  readonly turns = new Turns();
  #parsed = 0;

  /**
   * A text as a model may read it, `longest` characters at most and a mark when it was cut.
   * @returns the text itself when nothing is to be done, at once.
   */
  text(text: string, longest: number, use: Use): string | Promise<string> {
    if (text.length <= longest && PLAIN.test(text) && !SUSPECT.test(text)) return text;
    return this.#bounded(text, longest, use);
  }

  async #bounded(text: string, longest: number, use: Use): Promise<string> {
    // Bounded first: what is cut off need not be looked at. What is hidden may be three times as long as what is shown.
    const head = text.slice(0, longest * 4);
    const clean = await this.#clean(await this.#visible(head), use);
    if (clean.length <= longest && head.length === text.length) return clean;
    const cut = clean.slice(0, longest).toWellFormed();
    // What was code may be none without its end.
    return `${(await this.#clean(cut, use)).slice(0, longest).toWellFormed()} [cut off here]`;
  }

  async #visible(text: string): Promise<string> {
    if (text.length <= STEP) return visible(text);
    const parts: string[] = [];
    for (let at = 0; at < text.length; ) {
      const to = cutAfter(text, at + STEP);
      parts.push(visible(text.slice(at, to)));
      at = to;
      if (this.turns.isOver) await this.turns.next();
    }
    return parts.join('');
  }

  async #clean(text: string, use: Use): Promise<string> {
    if (!SUSPECT.test(text)) return text;
    this.#parsed += text.length;
    if (this.#parsed <= MOST_PARSED && isSimple(text)) {
      const once = await this.#parse(text);
      if (use === 'parts') return withoutTags(once).replace(BANGS, '');
      // Taking something out may have brought together what is on both sides of it.
      if (once === text || !SUSPECT.test(once)) return once;
      if (isSimple(once) && (await this.#parse(once)) === once) return once;
    }
    return this.#flatten(text);
  }

  /** Words only, of a text that is too long or too intricate to be parsed: no code, no links. In pieces of any length. */
  async #flatten(text: string): Promise<string> {
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const to = cutAfter(text, at + PIECE);
      pieces.push(withoutGiantTags(text.slice(at, to)));
      at = to;
      if (this.turns.isOver) await this.turns.next();
    }
    const lastIn = new Map<string, number>();
    for (const [at, piece] of pieces.entries()) {
      for (const name of lastEndTags(piece).keys()) lastIn.set(name, at);
      if (this.turns.isOver) await this.turns.next();
    }
    let open: Unfinished = {};
    const flat: string[] = [];
    for (const [at, piece] of pieces.entries()) {
      const reader = new HtmlReader(piece, [], open, (name) => (lastIn.get(name) ?? -1) > at);
      do if (this.turns.isOver) await this.turns.next();
      while (reader.read(STEP));
      open = reader.unfinished;
      flat.push(withoutLinks(withoutTags(reader.result)));
      if (this.turns.isOver) await this.turns.next();
    }
    return flat.map((piece, at) => piece + between(piece, flat[at + 1] ?? '')).join('');
  }

  async #parse(text: string): Promise<string> {
    const shown = TAG.test(text) ? await this.#withoutHtml(text) : text;
    if (this.turns.isOver) await this.turns.next();
    return isSimple(shown) ? withoutImages(shown, this.turns) : withoutLinks(withoutTags(shown));
  }

  async #withoutHtml(text: string): Promise<string> {
    const small = withoutGiantTags(text);
    const reader = new HtmlReader(small, await literalParts(small, this.turns));
    do if (this.turns.isOver) await this.turns.next();
    while (reader.read(STEP));
    return reader.result;
  }
}

/** What keeps two pieces from making an image, a tag or a link that neither has. */
function between(piece: string, next: string): string {
  return /[!\]<]/.test(piece.slice(-1)) && /^[[(:a-z/!?]/i.test(next) ? ' ' : '';
}

/** A place to cut a text near `to`: behind a line, else not within a character. */
function cutAfter(text: string, to: number): number {
  if (to >= text.length) return text.length;
  const line = text.lastIndexOf('\n', to);
  if (line > to - STEP / 2) return line + 1;
  const code = text.charCodeAt(to - 1);
  return code >= 0xd800 && code < 0xdc00 ? to - 1 : to;
}

const DEEPEST = 32;
const LONGEST_NAME = 200;
/** Values that are looked at before the clock is. */
const BETWEEN = 256;

interface Job {
  readonly from: object;
  readonly into: object;
  readonly depth: number;
}

/**
 * Cleans every text of a JSON value, names too, in turns of the event loop. What is nested deeper than any answer of
 * ours becomes null. `parted` names a member of the value whose text is given on in parts, of whatever length.
 */
export async function cleanValue(
  value: unknown,
  longest: number,
  parted?: { readonly name: string; readonly longest: number },
): Promise<unknown> {
  const cleaner = new Cleaner();
  if (typeof value === 'string') return cleaner.text(value, longest, 'whole');
  if (typeof value !== 'object' || value === null) return value;
  const root = emptyLike(value);
  const jobs: Job[] = [{ from: value, into: root, depth: 1 }];
  let seen = 0;
  for (let job = jobs.pop(); job !== undefined; job = jobs.pop()) {
    const { from, into, depth } = job;
    const isList = Array.isArray(from);
    for (const key of isList ? from.keys() : Object.keys(from)) {
      seen += 1;
      if (seen % BETWEEN === 0 && cleaner.turns.isOver) await cleaner.turns.next();
      const item = (from as Record<string | number, unknown>)[key];
      const named = typeof key === 'number' ? key : cleaner.text(key, LONGEST_NAME, 'whole');
      const name = named instanceof Promise ? await named : named;
      if (typeof item === 'string') {
        const isParted = depth === 1 && key === parted?.name;
        const cleaned = isParted ? cleaner.text(item, parted.longest, 'parts') : cleaner.text(item, longest, 'whole');
        put(into, name, cleaned instanceof Promise ? await cleaned : cleaned);
      } else if (typeof item !== 'object' || item === null) put(into, name, item);
      else if (depth === DEEPEST) put(into, name, null);
      else {
        const inner = emptyLike(item);
        put(into, name, inner);
        jobs.push({ from: item, into: inner, depth: depth + 1 });
      }
    }
  }
  return root;
}

function emptyLike(value: object): object {
  return Array.isArray(value) ? [] : {};
}

function put(into: object, name: string | number, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
  else (into as Record<string | number, unknown>)[name] = value;
}
