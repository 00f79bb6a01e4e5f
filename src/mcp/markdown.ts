import { parser as commonMark } from '@lezer/markdown';
import type { Turns } from '../http/turns.ts';
import { isActiveInMarkdown } from './urls.ts';

/** A part of a text, in UTF-16 code units. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** CommonMark without emphasis, which does not matter here and costs the square of the text in its worst case. */
const parser = commonMark.configure({ remove: ['Emphasis', 'HardBreak'] });

/** The parser resolves links in a time that grows with the square of their number, and lists with that of their depth. */
const MOST_BRACKETS = 1000;
const NESTED = /^[ \t]*(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*){17}/m;
/** Even as one paragraph, which is parsed in one step. */
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

/** Parses block by block, in turns of the event loop. */
async function parse(text: string, turns: Turns): Promise<Tree> {
  const parsing = parser.startParse(text);
  for (;;) {
    const tree = parsing.advance();
    if (tree !== null) return tree;
    if (turns.isOver) await turns.next();
  }
}

/**
 * The parts of a text that are shown as they are written: code, and addresses in angle brackets. Not lines that begin
 * with four spaces: whether they are code depends on what stands before them.
 */
export async function literalParts(text: string, turns: Turns): Promise<readonly Range[]> {
  const parts: Range[] = [];
  (await parse(text, turns)).iterate({
    enter({ name, from, to }) {
      const isLiteral = name === 'InlineCode' || name === 'FencedCode';
      // Within one, this parser takes another angle bracket, which CommonMark does not (§6.5).
      if (!isLiteral && (name !== 'Autolink' || text.slice(from + 1, to).includes('<'))) return true;
      parts.push({ from, to });
      return false;
    },
  });
  return parts;
}

interface Edit extends Range {
  readonly text: string;
}

/** What would make an image of a link: all of them, and looked for from the first of a run only. */
export const BANGS = /(?<!!)!+(?=\[)/g;
const BLOCKED = 'blocked:';
const SCHEME = /^[a-z]+:/i;
/** A script's address in running text, which some clients make a link of. "JavaScript: The Good Parts" is none. */
const SCRIPT = /\b(?:javascript|vbscript):(?=\S)|\bdata:[a-z]+\/[a-z0-9.+-]+[;,]/gi;

/**
 * Makes links of images, within a link their words, and takes links to scripts away; all else is the text as it was. An
 * exclamation mark before a bracket goes even where this parser sees no image: another one might.
 */
export async function withoutImages(text: string, turns: Turns): Promise<string> {
  const edits: Edit[] = [];
  const literal: Range[] = [];
  (await parse(text, turns)).iterate({
    enter(node) {
      const { name, from, to } = node;
      if (name === 'InlineCode' || name === 'FencedCode') {
        literal.push({ from, to });
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
  return outside(edited(text, edits, literal), (part) => {
    const plain = part.replace(SCRIPT, BLOCKED);
    return hasLinks ? plain.replace(BANGS, '') : plain;
  });
}

/** A text in pieces: what is literal, and what is not. */
type Piece = readonly [text: string, isLiteral: boolean];

function edited(text: string, edits: readonly Edit[], literal: readonly Range[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let [at, plain] = [0, ''];
  const all = [...edits, ...literal].toSorted((a, b) => a.from - b.from);
  for (const one of all) {
    if (one.from < at) continue;
    plain += text.slice(at, one.from);
    if ('text' in one) plain += one.text;
    else {
      pieces.push([plain, false], [text.slice(one.from, one.to), true]);
      plain = '';
    }
    at = one.to;
  }
  return [...pieces, [plain + text.slice(at), false]];
}

function outside(pieces: readonly Piece[], change: (part: string) => string): string {
  return pieces.map(([text, isLiteral]) => (isLiteral ? text : change(text))).join('');
}

/** Without any syntax for a link, an image or a definition; the words and the addresses stay. */
export function withoutLinks(text: string): string {
  return text
    .replace(SCRIPT, BLOCKED)
    .replace(BANGS, '')
    .replace(/\](?=[([:])/g, '] ');
}
