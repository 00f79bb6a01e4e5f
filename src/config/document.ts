import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';
import { isObject } from '../http/json-object.ts';
import { codeFrame, SECRET_KEY, type Span } from './code-frame.ts';
import { type Place, type Problem, problemAt } from './problems.ts';
import type { Path, Tree } from './tree.ts';

/** Settings from one source, with the place of each of them in it. */
export interface Layer {
  readonly tree: Tree;
  /** The place of the setting at `path`, or of the nearest enclosing one when it is absent. */
  place(path: Path, at: 'key' | 'value'): Place;
}

/** A parsed YAML file. */
export interface YamlLayer extends Layer {
  /** Problems with it as YAML: syntax, duplicate keys, no mapping at the top level. */
  readonly problems: readonly Problem[];
  /**
   * Whether the tree can be relied on for `path`. Always true for a valid file. With a syntax error, true only for the
   * top-level blocks that end before it, since the parser guesses from there on.
   */
  trusts(path: Path): boolean;
}

/** Parses a YAML text. `file` is the name to show in `problems`, which lists the mistakes: it does not throw. */
export function readYaml(file: string, text: string): YamlLayer {
  const lines = new LineCounter();
  // `inspect` reports duplicate keys instead, with their path and the line of the first one.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'error',
  });
  const secrets: Span[] = [];
  const problems: Problem[] = [];

  const placeOf = (offset: number): Place => {
    const { line, col: column } = lines.linePos(Math.min(offset, text.length));
    const start = lines.lineStarts[line - 1] ?? 0;
    return { file, line, column, frame: codeFrame(text, { line, column, start }, secrets) };
  };
  const report = (offset: number, path: Path, message: string) =>
    problems.push(problemAt(placeOf(offset), { path, message }));

  hide(document.contents, secrets);
  // The parser's messages quote the text they fail on, which may be a secret. The code frame masks secrets.
  const broken = [...document.errors, ...document.warnings].map((error) => {
    report(error.pos[0], [], error.message.replace(/:\s.*$/s, '').replace(/[!%]\S+/g, '…'));
    return error.pos[0];
  });
  inspect(document, document.contents, [], {
    twice: (path, offset, first) =>
      report(offset, path, `is a duplicate key (first on line ${lines.linePos(first).line})`),
    unreadable: (path, offset, text) => {
      report(offset, path, text);
      broken.push(offset);
    },
  });
  const firstBroken = Math.min(Number.POSITIVE_INFINITY, ...broken);

  const { tree, message } = toTree(document);
  if (message !== undefined && broken.length === 0) report(0, [], message);

  return {
    tree,
    problems,
    trusts: (path) => message === undefined && (broken.length === 0 || endOf(document, path[0]) < firstBroken),
    place: (path, at) => placeOf(locate(document, path, at)),
  };
}

function toTree(document: Document.Parsed): { tree: Tree; message?: string } {
  if (document.contents === null) return { tree: {}, message: 'is empty' };
  try {
    const tree: unknown = document.toJS();
    return isObject(tree) ? { tree } : { tree: {}, message: 'must be a mapping of keys to values' };
  } catch {
    // Too many aliases: a few lines that would expand into gigabytes.
    return { tree: {}, message: 'uses aliases (*name) that expand too far' };
  }
}

interface Reports {
  readonly twice: (path: Path, offset: number, first: number) => void;
  readonly unreadable: (path: Path, offset: number, message: string) => void;
}

/** Reports what the parser accepts but we do not: duplicate keys, keys that are not text, undefined aliases. */
function inspect(document: Document.Parsed, node: unknown, path: Path, reports: Reports): void {
  if (isAlias(node) && node.resolve(document) === undefined) {
    reports.unreadable(path, startOf(node), 'there is no anchor with this name above');
  }
  if (isSeq(node)) for (const [index, item] of node.items.entries()) inspect(document, item, [...path, index], reports);
  if (!isMap(node)) return;
  const seen = new Map<string, number>();
  for (const { key, value } of node.items) {
    const name = keyName(key);
    const first = seen.get(name);
    const offset = startOf(key);
    if (!isScalar(key)) reports.unreadable(path, offset, 'a key must be plain text');
    else if (first === undefined) seen.set(name, offset);
    else reports.twice([...path, name], offset, first);
    inspect(document, value, [...path, name], reports);
  }
}

/** Collects the values of keys that name a secret. The names in a reference ({ env, file }) are not secret. */
function hide(node: unknown, spans: Span[], under = false): void {
  if ((isScalar(node) || isAlias(node)) && under && node.range != null) spans.push([node.range[0], node.range[1]]);
  if (!isCollection(node)) return;
  for (const item of node.items) {
    if (!isPair(item)) hide(item, spans, under);
    else {
      const name = keyName(item.key);
      hide(item.value, spans, (under && name !== 'env' && name !== 'file') || SECRET_KEY.test(name));
    }
  }
}

/** The offset to point at: the key for a block or an empty value, otherwise the value itself. */
function locate(document: Document.Parsed, path: Path, at: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [depth, step] of path.entries()) {
    const inside: unknown = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(inside) ? inside.items.findLast(({ key }) => keyName(key) === String(step)) : undefined;
    const item: unknown = isSeq(inside) && typeof step === 'number' ? inside.items[step] : undefined;
    if (pair === undefined && item === undefined) return offset;
    node = pair === undefined ? item : pair.value;
    const named = pair !== undefined && (at === 'key' || depth < path.length - 1 || !isPointable(node));
    offset = startOf(named ? pair.key : node);
  }
  return offset;
}

function isPointable(node: unknown): boolean {
  if (isCollection(node)) return node.flow === true;
  return !(isScalar(node) && node.value === null && node.source === '');
}

function endOf(document: Document.Parsed, key: string | number | undefined): number {
  const pair = isMap(document.contents)
    ? document.contents.items.findLast((item) => keyName(item.key) === key)
    : undefined;
  return (pair?.value as Node | null | undefined)?.range?.[1] ?? Number.POSITIVE_INFINITY;
}

function keyName(key: unknown): string {
  return isScalar(key) ? String(key.value ?? '') : String(key);
}

function startOf(node: unknown): number {
  return (node as Node | null | undefined)?.range?.[0] ?? 0;
}
