import { anchorOf } from '../../../site/anchors.ts';

/** A fenced block of a page. */
export interface Block {
  /** The page, from the root of the project: `docs/security.md`. */
  readonly file: string;
  /** The line of the opening fence, from 1. */
  readonly line: number;
  /** The first word after the fence, or empty. */
  readonly language: string;
  /** The words after the language: `contract` in "graphql contract". */
  readonly words: readonly string[];
  /** The content, without the indentation of a surrounding list. */
  readonly text: string;
  /** Instructions for tests in comments directly above it, which readers do not see: `run`, `answer: GET /path`. */
  readonly markers: readonly string[];
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
}

interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

export interface Page {
  readonly file: string;
  readonly blocks: readonly Block[];
  /** The lines outside of every block. */
  readonly prose: readonly Line[];
  /** The anchors that GitHub generates from the headings. */
  readonly anchors: ReadonlySet<string>;
}

const FENCE = /^( *)(`{3,}|~{3,})[ \t]*([^`]*)$/;
const COMMENT = /^\s*<!--\s*(.*?)\s*-->\s*$/;
const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/;

/** Parses a page. Throws if a fence is not closed, or is in a quotation, which is not supported. */
export function readMarkdown(file: string, text: string): Page {
  const blocks: Block[] = [];
  const prose: Line[] = [];
  const headings: string[] = [];
  const named = new Map<string, number>();
  const anchors = new Set<string>();
  let markers: string[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const fence = FENCE.exec(line);
    if (fence) {
      const [, indent = '', mark = '', info = ''] = fence;
      const from = at;
      const inside: string[] = [];
      for (at++; !isClosing(lines[at], mark); at++) {
        const content = lines[at];
        if (content === undefined) throw new Error(`${file}:${from + 1}: this block is never closed`);
        inside.push(content.startsWith(indent) ? content.slice(indent.length) : content.trimStart());
      }
      const [language = '', ...words] = info.trim().split(/\s+/);
      const body = inside.length === 0 ? '' : `${inside.join('\n')}\n`;
      blocks.push({ file, line: from + 1, language, words, text: body, markers, headings: headings.filter(Boolean) });
      markers = [];
      continue;
    }
    if (/^\s*>\s*(`{3}|~{3})/.test(line)) throw new Error(`${file}:${at + 1}: no test looks at a block in a quotation`);
    prose.push({ number: at + 1, text: line });
    const comment = COMMENT.exec(line);
    if (comment) markers.push(comment[1] ?? '');
    else if (line.trim() !== '') markers = [];
    const heading = HEADING.exec(line);
    if (heading) {
      const [, marks = '', title = ''] = heading;
      headings.splice(marks.length - 1);
      headings[marks.length - 1] = title;
      const slug = anchorOf(title);
      const seen = named.get(slug) ?? 0;
      named.set(slug, seen + 1);
      anchors.add(seen === 0 ? slug : `${slug}-${seen}`);
    }
    for (const [, id = ''] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id);
  }
  return { file, blocks, prose, anchors };
}

function isClosing(line: string | undefined, mark: string): boolean {
  const trimmed = line?.trim() ?? '';
  return trimmed.length >= mark.length && trimmed === (mark[0] ?? '').repeat(trimmed.length);
}

/** The position of a block, for error messages. */
export function placeOf({ file, line }: { readonly file: string; readonly line: number }): string {
  return `${file}:${line}`;
}
