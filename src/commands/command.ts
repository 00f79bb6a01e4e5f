import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

/**
 * What a file of this folder exports as `define`: gives the command its arguments, options and work, or its
 * subcommands. Work is imported by the action itself, so that each command starts with what it needs and no more.
 */
export type Define = (command: Command, terminal: Terminal) => void;

/** Text below the help of a command: lines that can be typed. */
export function examples(...lines: readonly string[]): string {
  return ['', lines.length === 1 ? 'Example:' : 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}
