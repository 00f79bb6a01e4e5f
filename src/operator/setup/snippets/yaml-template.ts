import { type Document, isCollection, isMap, isNode, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { codePath, readInstalled } from '../../../installation.ts';

/** Texts that are filled in are quoted: readers differ in what they take for a number. Nothing is folded. */
const FORM = { lineWidth: 0, singleQuote: true, defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' } as const;

/**
 * What stands for each `!fill NAME` of a template: plain data. Undefined takes the key away, with its
 * comment. With `...: !fill NAME`, the keys of a map stand for that key.
 */
export type Filling = Readonly<Record<string, unknown>>;

/** The text of a YAML file of this folder, filled in. Its comments stay. */
export function filledIn(file: string, filling: Filling): string {
  const documents = documentsIn(file, filling);
  return documents.map((one) => one.toString(FORM)).join('');
}

function documentsIn(file: string, filling: Filling): readonly Document[] {
  const text = readInstalled(codePath(`operator/setup/snippets/${file}`)).toString('utf8');
  const tags = [{ tag: '!fill', resolve: (name: string) => name }];
  const documents = parseAllDocuments(text, { customTags: tags }) as Document[];
  for (const document of documents) fill(document.contents, filling, document);
  return documents;
}

/** Fills in what is below a node. */
function fill(node: unknown, filling: Filling, document: Document): void {
  if (isMap(node)) {
    for (const pair of node.items) pair.value = written(standingFor(pair.value, filling), document);
    node.items = node.items
      .flatMap((pair) => (isMap(pair.value) && String(pair.key) === '...' ? pair.value.items : [pair]))
      .filter(({ value }) => value !== undefined);
    for (const { value } of node.items) fill(value, filling, document);
  } else if (isSeq(node)) {
    node.items = node.items.map((item) => written(standingFor(item, filling), document));
    for (const item of node.items) fill(item, filling, document);
  }
}

/** What stands for a node of a template. */
function standingFor(node: unknown, filling: Filling): unknown {
  if (!isScalar(node) || node.tag !== '!fill') return node;
  const name = String(node.value);
  if (!Object.hasOwn(filling, name)) throw new Error(`Nothing is filled in for ${name}.`);
  return filling[name];
}

function written(value: unknown, document: Document): unknown {
  if (value === undefined || isNode(value)) return value;
  const node = document.createNode(value, { aliasDuplicateObjects: false });
  // Parts have a form of their own.
  if (!(Array.isArray(value) && value.some(isNode))) layOut(node);
  return node;
}

/** Each key of a map has a line, and so has each map in a list. */
function layOut(node: unknown): void {
  if (isMap(node)) {
    node.flow = node.items.length === 0;
    for (const { value } of node.items) layOut(value);
  } else if (isSeq(node)) {
    node.flow = !node.items.some(isCollection);
    for (const item of node.items) if (isCollection(item)) item.flow = true;
  }
}
