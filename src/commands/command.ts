import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

/**
 * This folder holds the command line: one file per command, each exporting a `define` that adds arguments, options and
 * an action, or subcommands. An action imports the modules it needs itself, so that a command loads only its own code.
 */
export type Define = (command: Command, terminal: Terminal) => void;

/** The examples below the help text of a command. */
export function examples(...lines: readonly string[]): string {
  return ['', lines.length === 1 ? 'Example:' : 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}
