import type { Argument, Command, Option } from 'commander';
import { wordsOf } from '../command.ts';

/** What can follow: any text, a file, a folder, or one of these words. */
export type Values = 'text' | 'file' | 'folder' | readonly string[];

export interface DescribedOption {
  /** Such as `--config`. */
  readonly long: string;
  /** Such as `-h`. */
  readonly short: string | undefined;
  readonly description: string;
  /** Undefined for an option that takes no value. */
  readonly values: Values | undefined;
}

/** A command as a shell has to know it. */
export interface Described {
  /** Such as `coursegate members list`. */
  readonly words: string;
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Described[];
  readonly options: readonly DescribedOption[];
  readonly arguments: readonly { readonly name: string; readonly values: Values; readonly variadic: boolean }[];
}

/** Describes a command and all below it, including `help` and the options that every command has. */
export function describe(command: Command): Described {
  const help = command.createHelp();
  const words = wordsOf(command).join(' ');
  const visible = help.visibleCommands(command);
  const names = visible.map((one) => one.name()).filter((name) => name !== 'help');
  const shared = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const options = shared.filter(({ long }) => long !== '--version' || command.parent === null).map(describeOption);
  const commands = visible.map((one) =>
    one.name() === 'help' ? helpCommand(`${words} help`, one.description(), names) : describe(one),
  );
  const summary = command.summary() || command.description();
  return {
    words,
    name: command.name(),
    summary,
    commands,
    options,
    arguments: command.registeredArguments.map(describeArgument),
  };
}

/** Every command of a tree, those above first. */
export function everyCommand(described: Described): readonly Described[] {
  return [described, ...described.commands.flatMap(everyCommand)];
}

function helpCommand(words: string, summary: string, names: readonly string[]): Described {
  const command = { name: 'command', values: names, variadic: false };
  return { words, name: 'help', summary, commands: [], options: [], arguments: names.length === 0 ? [] : [command] };
}

function describeOption({ long, short, description, argChoices, flags, required, optional }: Option): DescribedOption {
  return {
    long: long ?? '',
    short,
    description,
    values: required || optional ? valuesOf(flags, argChoices) : undefined,
  };
}

function describeArgument(argument: Argument): Described['arguments'][number] {
  const { argChoices, variadic } = argument;
  return { name: argument.name(), values: valuesOf(`<${argument.name()}>`, argChoices), variadic };
}

/** The name of a value says what it is: `<file>` and `<folder>` are looked for on disk. */
function valuesOf(flags: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return choices;
  const name = /<([^>.]+)(\.\.\.)?>/.exec(flags)?.[1];
  return name === 'file' || name === 'folder' ? name : 'text';
}
