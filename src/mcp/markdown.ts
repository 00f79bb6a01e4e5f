import { parser as commonMark } from '@lezer/markdown';
import type { Turns } from '../http/turns.ts';
import { isActiveInMarkdown } from './urls.ts';

/** A range of a text, in UTF-16 code units. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** CommonMark without emphasis, which is irrelevant here and takes quadratic time in the worst case. */
const parser = commonMark.configure({ remove: ['Emphasis', 'HardBreak'] });

/** The parser's time for links is quadratic in their number, and for nested lists in their depth. */
const MOST_BRACKETS = 1000;
const NESTED = /^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*){17}/m;
/** One paragraph is parsed in one step, even of this length. */
const LONGEST = 128 * 1024;

/** Whether a text can be parsed within milliseconds. */
export function isSimple(text: string): boolean {
  if (text.length > LONGEST || NESTED.test(text)) return false;
  let brackets = 0;
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) {
    brackets += 1;
    if (brackets > MOST_BRACKETS) return false;
  }
  return true;
}

type Tree = ReturnType<typeof parser.parse>;

/** Parses block by block, yielding to the event loop in between. */
async function parse(text: string, turns: Turns): Promise<Tree> {
  const parsing = parser.startParse(text);
  for (;;) {
    const tree = parsing.advance();
    if (tree !== null) return tree;
    if (turns.isOver) await turns.next();
  }
}

/**
 * Ranges that are shown literally: code, and URLs in angle brackets. Lines indented by four spaces are not included,
 * because it depends on the lines before them whether they are code.
 */
export async function literalParts(text: string, turns: Turns): Promise<readonly Range[]> {
  const parts: Range[] = [];
  (await parse(text, turns)).iterate({
    enter({ name, from, to }) {
      const isLiteral = name === 'InlineCode' || name === 'FencedCode';
      // This parser allows another angle bracket within an autolink, which CommonMark does not (section 6.5).
      if (isLiteral || (name === 'Autolink' && !text.slice(from + 1, to).includes('<'))) parts.push({ from, to });
    },
  });
  return parts;
}

/** A range to replace; without a text, it is literal and stays as it is. */
interface Edit extends Range {
  readonly text?: string;
}

/** Exclamation marks that would turn a link into an image. Matches a whole run, and only from its start. */
export const BANGS = /(?<!!)!+(?=\[)/g;
const BLOCKED = 'blocked:';
const SCHEME = /^[a-z]+:/i;
/** A script URL in running text, which some clients turn into a link. "JavaScript: The Good Parts" does not match. */
const SCRIPT = /\b(?:javascript|vbscript):(?=\S)|\bdata:[a-z]+\/[a-z0-9.+-]+[;,]/gi;
/** A destination where this parser sees no link but another might: in `[a][](b)`, it takes `[a][]` for the link. */
const DESTINATION = /(\]\(\s*)(<[^<>\n]*>?|[^\s()]+)/g;

/**
 * Turns images into links (inside a link, into their words) and removes links to scripts. Everything else stays
 * unchanged. An exclamation mark before a bracket is removed even where this parser sees no image, because another
 * parser might.
 */
export async function withoutImages(text: string, turns: Turns): Promise<string> {
  const edits: Edit[] = [];
  (await parse(text, turns)).iterate({
    enter(node) {
      const { name, from, to } = node;
      if (name === 'InlineCode' || name === 'FencedCode') {
        edits.push({ from, to });
        return false;
      }
      if (name === 'URL' && isActiveInMarkdown(text.slice(from, to))) {
        const scheme = SCHEME.exec(text.slice(from, to))?.[0] ?? text.slice(from, to);
        edits.push({ from, to: from + scheme.length, text: BLOCKED });
      }
      if (name === 'Image' && node.node.parent?.name === 'Link') {
        const marks = node.node.getChildren('LinkMark');
        const [open, close] = marks;
        if (open !== undefined && close !== undefined) {
          edits.push({ from, to: open.to, text: '' }, { from: close.from, to, text: '' });
          return false;
        }
      }
      return true;
    },
  });
  const hasLinks = /\]\s*[([:]/.test(text);
  return edited(text, edits, (part) => {
    const plain = part.replace(SCRIPT, BLOCKED).replace(DESTINATION, withoutScript);
    return hasLinks ? plain.replace(BANGS, '') : plain;
  });
}

function withoutScript(all: string, before: string, url: string): string {
  return isActiveInMarkdown(url) ? before + BLOCKED : all;
}

/** The text with these edits, and with everything between its literal ranges changed. */
function edited(text: string, edits: readonly Edit[], change: (part: string) => string): string {
  const done: string[] = [];
  let [at, part] = [0, ''];
  for (const { from, to, text: replacement } of edits.toSorted((a, b) => a.from - b.from)) {
    if (from < at) continue;
    part += text.slice(at, from);
    if (replacement !== undefined) part += replacement;
    else {
      done.push(change(part), text.slice(from, to));
      part = '';
    }
    at = to;
  }
  return done.join('') + change(part + text.slice(at));
}

/** Breaks the syntax of links, images and link definitions. Their words and URLs stay as text. */
export function withoutLinks(text: string): string {
  return text
    .replace(SCRIPT, BLOCKED)
    .replace(BANGS, '')
    .split(/\](?=[([:])/)
    .join('] ');
}
