import { Turns } from '../http/turns.ts';
import { visible } from './characters.ts';
import { HtmlReader, type Unfinished } from './html.ts';
import { lastEndTags, TAG, withoutGiantTags, withoutTags } from './html-tags.ts';
import { BANGS, isSimple, literalParts, withoutImages, withoutLinks } from './markdown.ts';

/*
 * Cleans texts of the course site before they reach a model's context. Only words pass, and they are data, whatever
 * they say. Removed is everything that an app would fetch, run or hide: images, HTML, scripts, comments and invisible
 * characters.
 */

/** Letters of Europe, digits and common punctuation: most texts. They need no cleaning unless SUSPECT matches. */
const PLAIN = /^[\t\n -~\u00A0-\u00AC\u00AE-\u024F\u2010-\u2027]*$/;
const SUSPECT = /<[a-z/!?]|!\[|\]\((?!https?:\/\/|\/|#)|\]:(?!\s*https?:\/\/)|(?:script|data):\S/i;

/**
 * Characters of one result that are parsed. Text beyond this is flattened: code is not recognised, and no link stays a
 * link.
 */
const MOST_PARSED = 256 * 1024;
/** Characters that the HTML tokenizer reads in one step: about a millisecond. */
const STEP = 16 * 1024;
/** Characters in one piece of a text that is not parsed as a whole: a few milliseconds. */
const PIECE = 32 * 1024;

/**
 * How a text is returned: `whole`, so that code in it may stay unchanged; or in `parts` that can start anywhere in it.
 */
type Use = 'whole' | 'parts';

/** Cleans the texts of one value, yielding to the event loop in between. */
class Cleaner {
  readonly turns = new Turns();
  #parsed = 0;

  /**
   * Cleans a text for a model, and cuts it to `longest` characters plus a mark.
   * @returns the text itself, synchronously, if there is nothing to do
   */
  text(text: string, longest: number, use: Use): string | Promise<string> {
    if (text.length <= longest && PLAIN.test(text) && !SUSPECT.test(text)) return text;
    return this.#bounded(text, longest, use);
  }

  async #bounded(text: string, longest: number, use: Use): Promise<string> {
    // Cut first, because the rest is not needed. Hidden parts may take up three times as much as what is shown.
    const head = text.slice(0, longest * 4);
    const clean = await this.#clean(await this.#visible(head), use);
    if (clean.length <= longest && head.length === text.length) return clean;
    const cut = clean.slice(0, longest).toWellFormed();
    // Cut off its end, code may no longer be code.
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
      // Removing something may have joined the parts before and after it into new markup.
      if (once === text || !SUSPECT.test(once)) return once;
      if (isSimple(once) && (await this.#parse(once)) === once) return once;
    }
    return this.#flatten(text);
  }

  /**
   * Reduces a text that is too long or too complex to parse to words: no code, no links. Works piece by piece, so the
   * text may be of any length.
   */
  async #flatten(text: string): Promise<string> {
    const pieces: string[] = [];
    const lastIn = new Map<string, number>();
    for (let at = 0; at < text.length; ) {
      const to = cutAfter(text, at + PIECE);
      const piece = withoutGiantTags(text.slice(at, to));
      for (const name of lastEndTags(piece).keys()) lastIn.set(name, pieces.length);
      pieces.push(piece);
      at = to;
      if (this.turns.isOver) await this.turns.next();
    }
    let open: Unfinished = {};
    const flat: string[] = [];
    let end = '';
    for (const [at, piece] of pieces.entries()) {
      const reader = new HtmlReader(piece, [], open, (name) => (lastIn.get(name) ?? -1) > at);
      const clean = withoutLinks(withoutTags(await this.#readHtml(reader)));
      open = reader.unfinished;
      flat.push(between(end, clean), clean);
      // An empty piece does not separate its neighbours.
      end = clean === '' ? end : clean.slice(-1);
      if (this.turns.isOver) await this.turns.next();
    }
    return flat.join('');
  }

  async #parse(text: string): Promise<string> {
    const shown = TAG.test(text) ? await this.#withoutHtml(text) : text;
    if (this.turns.isOver) await this.turns.next();
    return isSimple(shown) ? withoutImages(shown, this.turns) : withoutLinks(withoutTags(shown));
  }

  async #withoutHtml(text: string): Promise<string> {
    const small = withoutGiantTags(text);
    return this.#readHtml(new HtmlReader(small, await literalParts(small, this.turns)));
  }

  async #readHtml(reader: HtmlReader): Promise<string> {
    do if (this.turns.isOver) await this.turns.next();
    while (reader.read(STEP));
    return reader.result;
  }
}

/** A separator that keeps two adjacent pieces from forming an image, a tag or a link. */
function between(end: string, next: string): string {
  return /[!\]<]/.test(end) && /^[[(:a-z/!?]/i.test(next) ? ' ' : '';
}

/** Where to cut a text near `to`: after a line if possible, and never within a character. */
function cutAfter(text: string, to: number): number {
  if (to >= text.length) return text.length;
  // Only this slice is searched: without a line end, lastIndexOf would go back to the start of the text for each piece.
  const from = to - STEP / 2 + 1;
  const line = text.slice(from, to + 1).lastIndexOf('\n');
  if (line !== -1) return from + line + 1;
  const code = text.charCodeAt(to - 1);
  return code >= 0xd800 && code < 0xdc00 ? to - 1 : to;
}

const DEEPEST = 32;
const LONGEST_NAME = 200;
/** Number of values between two checks of the clock. */
const BETWEEN = 256;

interface Job {
  readonly from: object;
  readonly into: object;
  readonly depth: number;
}

/**
 * Cleans every text in a JSON value, names included, yielding to the event loop in between. Values nested deeper than
 * 32 levels become null. `parted` names a member of the value whose text is returned in parts, with its own length
 * limit.
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
