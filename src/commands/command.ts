import { type Command, Option } from 'commander';
import type { LoadedConfig } from '../config/load.ts';
import texts from './commands.json' with { type: 'json' };
import { EXIT, EXIT_MEANINGS, type ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * This folder holds the command line: one file per command, each exporting a `define` that adds arguments, options and
 * an action, or subcommands. An action imports the modules it needs itself, so that a command loads only its own code.
 */
export type Define = (command: Command, terminal: Terminal) => void;

/** The first word of the command line with which completion scripts ask the program what can follow. */
export const ASK = '__complete';

/** An option that is not only a text. */
interface OptionTexts {
  readonly help: string;
  readonly required?: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
}

/** What the help, the man page and the reference say of a command. */
export interface CommandTexts {
  /** For the list of commands, in one line of 80 columns. */
  readonly summary?: string;
  /** By default, the summary. */
  readonly description?: string;
  /** What each argument means, by how it is written: `<file>`, or `[key]` if it may be left out. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** What each option means, by how it is written. One without a value is false by default. */
  readonly options?: Readonly<Record<string, string | OptionTexts>>;
  /** They begin after the words of the command, or are a whole line of a shell. */
  readonly examples?: readonly string[];
  /** What exit codes mean for this command where that says more than EXIT_MEANINGS. */
  readonly exits?: Readonly<Partial<Record<keyof typeof EXIT, string>>>;
}

const TEXTS: Readonly<Record<string, CommandTexts>> = texts;
const TEXTS_OF = new WeakMap<Command, CommandTexts>();

/** Adds a command with its texts, arguments and options: by default those in commands.json, under the words that name it. */
export function subcommand(parent: Command, name: string, given?: CommandTexts): Command {
  const command = parent.command(name);
  const said = given ?? TEXTS[wordsOf(command).slice(1).join(' ')] ?? {};
  const { summary = '', description = summary, examples } = said;
  TEXTS_OF.set(command, said);
  command.summary(summary).description(description);
  for (const [form, help] of Object.entries(said.arguments ?? {})) command.argument(form, help);
  for (const [flags, texts] of Object.entries(said.options ?? {})) command.addOption(optionOf(flags, texts));
  return examples === undefined ? command : command.addHelpText('after', () => helpAfter(command));
}

function optionOf(flags: string, texts: string | OptionTexts): Option {
  const { help, required = false, default: usual, choices } = typeof texts === 'string' ? { help: texts } : texts;
  const option = new Option(flags, help).makeOptionMandatory(required);
  if (choices !== undefined) option.choices(choices);
  return option.default(usual ?? (option.isBoolean() && !option.negate ? false : undefined));
}

/** Limits the values of an option to names that the program knows. */
export function limitOption(command: Command, long: string, values: readonly string[]): void {
  command.options.find((option) => option.long === long)?.choices(values);
}

/** The words that name a command, such as `coursegate keys rotate`. */
export function wordsOf(command: Command): readonly string[] {
  const words: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) words.unshift(one.name());
  return words;
}

/** The examples of a command, each a whole line of a shell, or several with a backslash at the end of all but the last. */
export function examplesOf(command: Command): readonly string[] {
  const { examples = [] } = TEXTS_OF.get(command) ?? {};
  const typed = wordsOf(command).join(' ');
  return examples.map((line) => folded(line.includes('coursegate ') ? line : `${typed} ${line}`.trimEnd()));
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

/** The codes that a command can exit with, in order, each with its meaning. None for a group of subcommands. */
export function exitCodesOf(command: Command): readonly (readonly [code: ExitCode, meaning: string])[] {
  if (command.commands.length > 0) return [];
  const has = (long: string) => command.options.some((option) => option.long === long);
  const { exits = {} } = TEXTS_OF.get(command) ?? {};
  const meanings: Partial<Record<ExitCode, string>> = {
    [EXIT.ok]: EXIT_MEANINGS[EXIT.ok],
    [EXIT.failure]: EXIT_MEANINGS[EXIT.failure],
    [EXIT.usage]: EXIT_MEANINGS[EXIT.usage],
    ...(has('--reason') && { [EXIT.unanswered]: 'nothing was changed: the answer was no, or there is no such thing' }),
    ...(has('--admin') && { [EXIT.unavailable]: 'no gate answers' }),
    ...(has('--config') && { [EXIT.config]: EXIT_MEANINGS[EXIT.config] }),
    ...Object.fromEntries(Object.entries(exits).map(([name, meaning]) => [EXIT[name as keyof typeof EXIT], meaning])),
  };
  return Object.entries(meanings).map(([code, meaning]) => [Number(code) as ExitCode, meaning]);
}

function helpAfter(command: Command): string {
  const examples = examplesOf(command);
  const indented = examples.map((line) => `  ${line.replaceAll('\n', '\n  ')}`);
  const codes = exitCodesOf(command).map(([code, meaning]) => `  ${String(code).padEnd(3)}  ${meaning}`);
  return ['', examples.length === 1 ? 'Example:' : 'Examples:', ...indented, '', 'Exit codes:', ...codes].join('\n');
}

type Reading = Pick<Terminal, 'environment'>;

/** A configuration file, of one school or of a process with many. Throws ConfigError, which lists every mistake in it. */
export async function readProcess(file: string, { environment }: Reading): Promise<LoadedConfig> {
  const { loadConfig } = await import('../config/load.ts');
  return loadConfig({ file, environment });
}

/**
 * The configuration of one school. Throws ConfigError, which lists every mistake in it, and CommandFailure if the file
 * lists schools and not this one.
 */
export async function readConfig(file: string, terminal: Reading, school?: string): Promise<LoadedConfig> {
  const loaded = await readProcess(file, terminal);
  const { assertSchool } = await import('./school-option.ts');
  assertSchool(file, loaded, school);
  return school === undefined || loaded.schools === undefined ? loaded : loaded.schools.load(school);
}
