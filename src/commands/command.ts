import type { Command } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import type { Terminal } from './terminal.ts';

/**
 * This folder holds the command line: one file per command, each exporting a `define` that adds arguments, options and
 * an action, or subcommands. An action imports the modules it needs itself, so that a command loads only its own code.
 */
export type Define = (command: Command, terminal: Terminal) => void;

/** Adds a subcommand with the examples below its help text; see `withExamples`. */
export function subcommand(parent: Command, name: string, description: string, ...examples: string[]): Command {
  return withExamples(parent.command(name).description(description), ...examples);
}

/** Adds examples below the help text. They begin after the words of the command, or are a whole line of a shell. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const words: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) words.unshift(one.name());
  const typed = ['coursegate', ...words.filter((word) => word !== 'coursegate')].join(' ');
  const lines = examples.map((line) => `  ${line.includes('coursegate ') ? line : `${typed} ${line}`.trimEnd()}`);
  return command.addHelpText('after', ['', lines.length === 1 ? 'Example:' : 'Examples:', ...lines].join('\n'));
}

/** Throws ConfigError, which lists every mistake in the file. */
export async function readConfig(file: string, { environment }: Pick<Terminal, 'environment'>): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({ file, environment });
}
