import { hash } from 'node:crypto';
import type { UntracedProblem } from '../config/problems.ts';
import type { Tool } from './tool.ts';
import { decidingInput, SAME, saysChanging, saysReading } from './tool-verbs.ts';

/** More than assistants choose from well. */
const MOST = 40;

const WITHOUT_MEANING = /^(an?|the|of|to|in|on|at|by|for|with|and|or|is|are|be|its?|this|that|as|from)$/;
/** Words of a description below which one word more or less is a difference. */
const FEW = 5;

/**
 * What is allowed in tools and most likely unintended: two that a model confuses, one whose name says other than what it
 * does, one that reads or changes as an argument says, and more than a model chooses from well.
 * @param names of all configured tools, in order
 */
export function toolWarnings(tools: readonly Tool[], names: readonly string[]): readonly UntracedProblem[] {
  const at = 'value';
  const open = tools.filter(({ scopes }) => scopes.size === 0).length;
  const [who, count] = open > MOST ? ['callers without a token', open] : ['members', tools.length];
  const message = `${who} are listed ${count} tools, and assistants choose badly from more than ${MOST}: leave some out, or combine them`;
  const one = (key: 'name' | 'description', found: ReadonlyMap<string, string | undefined>) =>
    [...found].flatMap(([name, message]) =>
      message === undefined ? [] : [{ path: ['mcp', 'tools', names.indexOf(name), key], at, message } as const],
    );
  return [
    ...(count > MOST ? [{ path: ['mcp', 'tools'], at: 'key' as const, message }] : []),
    ...one(
      'name',
      alike(tools, ({ name }) => [nameKey(name)], 'a name that a model confuses with'),
    ),
    ...one('description', alike(tools, descriptionKeys, 'a description that a model confuses with that of')),
    ...one('name', new Map(tools.map((tool) => [tool.name, mixed(tool)] as const))),
  ];
}

/** Finds tools that share a key, in one pass: the name of the later one, with the message. */
function alike(tools: readonly Tool[], keysOf: (tool: Tool) => readonly (string | number)[], what: string) {
  const owners = new Map<string | number, string>();
  const found = new Map<string, string>();
  for (const tool of tools) {
    const keys = keysOf(tool);
    const other = keys.map((key) => owners.get(key)).find((name) => name !== undefined);
    for (const key of keys) owners.set(key, tool.name);
    if (other !== undefined) found.set(tool.name, `is ${what} ${other}: say in what they differ`);
  }
  return found;
}

/** The words of a name in the singular, in any order, with one word for all that say the same. */
function nameKey(name: string): string {
  const [first = '', ...others] = wordsIn(name);
  const verb = SAME.findIndex((words) => words.has(first));
  return [verb === -1 ? first : `${verb}`, ...others].sort().join(' ');
}

/**
 * Two descriptions have a key in common if they have the same words, or the same but for one that the name of its tool
 * does not have: the keys are the sum of the hashes of all words, and this sum without each of these words.
 */
function descriptionKeys({ name, descriptor }: Tool): readonly number[] {
  const own = new Set(wordsIn(name));
  const words = [...new Set(wordsIn(descriptor.description))].filter((word) => !WITHOUT_MEANING.test(word));
  const sum = words.reduce((total, word) => total + hashOf(word), 0);
  const left = words.length < FEW ? [] : words.filter((word) => !own.has(word));
  return [sum, ...left.map((word) => sum - hashOf(word))];
}

/** Why a tool seems to read and to change something. */
function mixed({ name, descriptor: { annotations, inputSchema } }: Tool): string | undefined {
  const readOnly = annotations.readOnlyHint === true;
  if (readOnly && saysChanging(name))
    return 'says that the tool changes something, but its request only reads, so clients call it without asking: use another method if the backend changes something, or another name';
  if (!readOnly && saysReading(name))
    return 'says that the tool reads, but its request can change something, so clients ask before each call: use a request that only reads, or another name';
  const input = decidingInput(inputSchema);
  return (
    input &&
    `is a tool that reads or changes something, as ${input} says: make it two, so that clients ask before changes only`
  );
}

/** Words in lower case and the singular; `getCourses` has two. */
function wordsIn(text: string): readonly string[] {
  const words =
    text
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length > 3 && !word.endsWith('ss') ? word.replace(/s$/, '') : word));
}

/** 44 bits, so that the sum of a description's words is exact. */
function hashOf(word: string): number {
  return Number.parseInt(hash('sha256', word, 'hex').slice(0, 11), 16);
}
