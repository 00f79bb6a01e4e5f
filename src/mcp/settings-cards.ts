import type { DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { readNamedFile, UnusableFile } from '../config/named-file.ts';
import type { UntracedProblem } from '../config/problems.ts';
import type { SourceFiles } from '../config/source-files.ts';
import { listAt, type Tree, valueAt } from '../config/tree.ts';
import { codePath, readInstalled } from '../installation.ts';

/** The templates of cards, by what a tool names: a path, or the name of one of ours. */
export type CardTemplates = ReadonlyMap<string, string>;

/** Templates that come with the gate, in src/mcp/cards. */
export const OUR_CARDS: readonly string[] = ['catalogue', 'course', 'courses', 'orders'];

const LARGEST = 64 * 1024;
const [ELEMENTS = [], ATTRIBUTES = []] = [
  'h2 h3 p ul ol li dl dt dd div section header footer span strong em small time progress button table thead tbody tr th td br hr',
  'data-each data-most data-if data-unless data-text data-format data-value data-message data-link class lang dir max scope role',
].map((names) => names.split(' '));
const FORMATS = ['date', 'money', 'cents', 'percent'];

/**
 * Reads the templates that `mcp.tools[].card` names. A template has elements for text and slots for what a tool returns,
 * and nothing that could run or load something. Takes the merged settings before they are validated.
 */
export async function readCards(
  tree: Tree,
  files: SourceFiles,
): Promise<{ readonly cards: CardTemplates; readonly findings: readonly UntracedProblem[] }> {
  const cards = new Map<string, string>();
  const findings: UntracedProblem[] = [];
  const tools = listAt(tree, ['mcp', 'tools']);
  if (tools.every((tool) => valueAt(tool, ['card']) === undefined)) return { cards, findings };
  // Few configurations need it.
  const { parseFragment: parse } = await import('parse5');
  const parseTemplate = (bytes: Buffer) => checked(bytes.toString('utf8'), parse);
  for (const [index, tool] of tools.entries()) {
    const file = valueAt(tool, ['card']);
    if (typeof file !== 'string' || cards.has(file)) continue;
    if (OUR_CARDS.includes(file)) {
      cards.set(file, parseTemplate(readInstalled(codePath(`mcp/cards/${file}.html`))));
      continue;
    }
    const read = await readNamedFile(tree, ['mcp', 'tools', index, 'card'], files, parseTemplate, LARGEST);
    findings.push(...read.findings);
    if (read.value !== undefined) cards.set(file, read.value);
  }
  return { cards, findings };
}

/** The template, if it has nothing but what a card can have. Throws UnusableFile. */
function checked(text: string, parse: typeof parseFragment): string {
  const open: DefaultTreeAdapterTypes.ChildNode[] = [...parse(text).childNodes];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!('tagName' in node)) continue;
    if (!ELEMENTS.includes(node.tagName))
      throw new UnusableFile(` has <${node.tagName}>: a card can have ${ELEMENTS.join(', ')}`);
    for (const { name, value } of node.attrs) {
      if (!ATTRIBUTES.includes(name) && !name.startsWith('aria-'))
        throw new UnusableFile(` has the attribute ${name}: a card can have ${ATTRIBUTES.join(', ')} and aria-*`);
      if (name === 'data-format' && !FORMATS.includes(value))
        throw new UnusableFile(` has the format "${value}": there are ${FORMATS.join(', ')}`);
    }
    open.push(...node.childNodes);
  }
  return text;
}
