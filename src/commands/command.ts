import type { Command } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import { type ExitNotes, exitCodesOf, noteExits } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * This folder holds the command line: one file per command, each exporting a `define` that adds arguments, options and
 * an action, or subcommands. An action imports the modules it needs itself, so that a command loads only its own code.
 */
export type Define = (command: Command, terminal: Terminal) => void;

/** The first word of the command line with which completion scripts ask the program what can follow. */
export const ASK = '__complete';

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Adds a subcommand with the examples below its help text; see `withExamples`. */
export function subcommand(parent: Command, name: string, description: string, ...examples: string[]): Command {
  return withExamples(parent.command(name).description(description), ...examples);
}

/** Adds examples and exit codes below the help text. Examples begin after the words of the command, or are a whole line of a shell. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const typed = wordsOf(command).join(' ');
  EXAMPLES.set(
    command,
    examples.map((line) => (line.includes('coursegate ') ? line : `${typed} ${line}`.trimEnd())),
  );
  return command.addHelpText('after', () => helpAfter(command));
}

/** Says what exit codes mean for this command where that is more than their general meaning. */
export function withExits(command: Command, notes: ExitNotes): Command {
  noteExits(command, notes);
  return command;
}

/** The words that name a command, such as `coursegate keys rotate`. */
export function wordsOf(command: Command): readonly string[] {
  const words: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) words.unshift(one.name());
  return words;
}

/** The examples of a command, each a whole line of a shell, or several with a backslash at the end of all but the last. */
export function examplesOf(command: Command): readonly string[] {
  return (EXAMPLES.get(command) ?? []).map(folded);
}

const WIDEST = 78;

/** Breaks a long line before options and pipes, so that it fits a terminal and can still be pasted. */
function folded(line: string): string {
  const lines = [''];
  for (const part of line.split(/ (?=--|\| )/)) {
    const last = lines.at(-1) ?? '';
    if (last === '') lines[0] = part;
    else if (last.length + 1 + part.length <= WIDEST - 2) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`  ${part}`);
  }
  return lines.join(' \\\n');
}

function helpAfter(command: Command): string {
  const examples = examplesOf(command);
  const indented = examples.map((line) => `  ${line.replaceAll('\n', '\n  ')}`);
  const codes = exitCodesOf(command).map(([code, meaning]) => `  ${String(code).padEnd(3)}  ${meaning}`);
  return ['', examples.length === 1 ? 'Example:' : 'Examples:', ...indented, '', 'Exit codes:', ...codes].join('\n');
}

/** Throws ConfigError, which lists every mistake in the file. */
export async function readConfig(file: string, { environment }: Pick<Terminal, 'environment'>): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({ file, environment });
}
