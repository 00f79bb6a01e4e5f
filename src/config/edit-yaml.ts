import { isMap, isNode, isScalar, isSeq, type Node, parseDocument } from 'yaml';
import type { Path } from './tree.ts';

/**
 * Changes to the text of a YAML file of our own. Everything else keeps its comments and its form. All functions return
 * the changed text, and throw when the text is not valid YAML or lacks the place.
 */

/** Replaces the value at `path`. `value` is written as it is: YAML on one line. */
export function replaceValue(text: string, path: Path, value: string): string {
  const { from, to } = rangeOf(nodeAt(text, path), path);
  return text.slice(0, from) + value + text.slice(to);
}

/** Adds a key to the map at `path`. `value` is YAML on one line. */
export function addKey(text: string, path: Path, key: string, value: string): string {
  const node = nodeAt(text, path);
  const { from, to } = rangeOf(node, path);
  if (!isMap(node)) throw new Error(`${path.join('.')} is not a map.`);
  if (node.flow === true) return `${text.slice(0, to - 1).trimEnd()}, ${key}: ${value} ${text.slice(to - 1)}`;
  const indent = ' '.repeat(from - (text.lastIndexOf('\n', from - 1) + 1));
  return `${text.slice(0, from)}${key}: ${value}\n${indent}${text.slice(from)}`;
}

/** Inserts lines after the top-level key `key`, whose value is on one line. */
export function insertAfter(text: string, key: string, lines: string): string {
  const found = new RegExp(`^${key}:.*\\n`, 'm').exec(text);
  if (found === null) throw new Error(`There is no ${key}.`);
  const end = found.index + found[0].length;
  return `${text.slice(0, end)}${lines}\n${text.slice(end)}`;
}

/** Removes a top-level key with the comment directly above it. */
export function removeKey(text: string, key: string): string {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (at < 0) throw new Error(`There is no ${key}.`);
  return withoutEntry(lines, at).join('\n');
}

const NEEDS = /^\s*# needs (\S.*)$/;

/**
 * Removes list items and keys below a comment such as `# needs llms/v1, wc/v3` if `has` knows none of these names, with
 * all of the comment, and only that line otherwise.
 */
export function keepNeeded(text: string, has: (name: string) => boolean): string {
  let lines: readonly string[] = text.split('\n');
  for (let at = lines.length - 2; at >= 0; at -= 1) {
    const names = NEEDS.exec(lines[at] ?? '')?.[1]?.split(',') ?? [];
    if (names.length === 0) continue;
    lines = names.some((name) => has(name.trim())) ? lines.toSpliced(at, 1) : withoutEntry(lines, at + 1);
  }
  return lines.join('\n');
}

/** Removes the entry that begins on the line `at`: the comment directly above it, and everything indented below it. */
function withoutEntry(lines: readonly string[], at: number): readonly string[] {
  const indent = indentOf(lines[at] ?? '');
  let [first, last] = [at, at];
  while (/^\s*#/.test(lines[first - 1] ?? '')) first -= 1;
  for (let next = at + 1; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    if (line.trim() === '') continue;
    if (indentOf(line) <= indent) break;
    last = next;
  }
  const isSetOff = (lines[first - 1] ?? '').trim() === '' && lines[last + 1] === '';
  return lines.toSpliced(first, last + 1 - first + (isSetOff ? 1 : 0));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function nodeAt(text: string, path: Path): Node {
  const node = parsed(text).getIn(path, true);
  if (!isNode(node)) throw new Error(`There is no ${path.join('.')}.`);
  return node;
}

function parsed(text: string) {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw error;
  return document;
}

function rangeOf(node: Node, path: Path): { from: number; to: number } {
  const [from, to] = node.range ?? [];
  if (from === undefined || to === undefined) throw new Error(`${path.join('.')} has no place.`);
  return { from, to };
}

/** An item of a changed list. `at` is the index of the item that it comes from, whose comment it keeps. */
export interface ListItem {
  readonly at?: number | undefined;
  /** YAML on one line; undefined keeps the item as it is. */
  readonly value?: string;
}

/** Replaces the items of the list under a top-level key, which is added if there is none. */
export function replaceItems(text: string, key: string, items: readonly ListItem[]): string {
  const pair = pairOf(text, key);
  if (pair === undefined) return `${text.replace(/\n*$/, '\n')}\n${key}:\n${itemLines(items, [], '  ')}`;
  const { comment, rest, written, indent } = listIn(text, pair);
  const head = text.slice(0, pair.end);
  if (items.length === 0) return `${head} []${comment}\n${rest}`;
  return `${head}${comment}\n${itemLines(items, written, indent)}${rest}`;
}

/** An item of a list as it is written, in whole lines. */
interface WrittenItem {
  /** The comment directly above it. */
  readonly comment: string;
  readonly lines: string;
}

function itemLines(items: readonly ListItem[], written: readonly WrittenItem[], indent: string): string {
  return items
    .map(({ at = -1, value }) => {
      const { comment = '', lines = '' } = written[at] ?? {};
      return comment + (value === undefined ? lines : `${indent}- ${value}\n`);
    })
    .join('');
}

/** A top-level key: where its colon ends, and its value. */
interface TopLevel {
  readonly end: number;
  readonly value: Node | undefined;
}

function pairOf(text: string, key: string): TopLevel | undefined {
  const { contents } = parsed(text);
  const pair = isMap(contents) ? contents.items.find((one) => isScalar(one.key) && one.key.value === key) : undefined;
  if (pair === undefined || !isNode(pair.key)) return undefined;
  const end = text.indexOf(':', pair.key.range?.[1]) + 1;
  return { end, value: isNode(pair.value) ? pair.value : undefined };
}

/** The comment behind the key, each of its items as lines, and the text after it. */
function listIn(text: string, { end, value }: TopLevel) {
  const [, last = end] = value?.range ?? [];
  if (!isSeq(value) || value.flow === true || value.items.length === 0) {
    const items = isSeq(value) ? value.items : [];
    const written = items.map((item) => ({ comment: '', lines: `  - ${text.slice(...startAndEnd(item as Node))}\n` }));
    return { comment: '', rest: text.slice(last).replace(/^[ \t]*\r?\n/, ''), written, indent: '  ' };
  }
  // Of block style: each item has its lines, and the comment directly above them.
  const lines = text.slice(end).split('\n');
  const firstOf = (item: unknown): number => {
    const [from] = startAndEnd(item as Node);
    let line = text.slice(end, from).split('\n').length - 1;
    while (!/^\s*-(\s|$)/.test(lines[line] ?? '')) line -= 1;
    return line;
  };
  const dashes = value.items.map(firstOf);
  const starts = dashes.map((dash, at) => {
    let first = dash;
    while (first - 1 > (dashes[at - 1] ?? 0) && /^\s*#/.test(lines[first - 1] ?? '')) first -= 1;
    return first;
  });
  const after = text.slice(end, last).replace(/\s+$/, '').split('\n').length;
  const wholeLines = (from: number, to: number) =>
    lines
      .slice(from, to)
      .map((line) => `${line}\n`)
      .join('');
  const written = starts.map((start, at) => ({
    comment: wholeLines(start, dashes[at] ?? start),
    lines: wholeLines(dashes[at] ?? start, starts[at + 1] ?? after),
  }));
  const indent = ' '.repeat(indentOf(lines[dashes[0] ?? 0] ?? ''));
  const comment = lines.slice(0, starts[0]).join('\n').trimEnd();
  return { comment, rest: lines.slice(after).join('\n'), written, indent };
}

function startAndEnd(node: Node): [number, number] {
  const [from = 0, to = 0] = node.range ?? [];
  return [from, to];
}
