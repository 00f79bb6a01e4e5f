import type { Argument, Command, Option } from 'commander';

/** What can follow: names on disk, or these words, each with what it means. */
export type Offered = 'file' | 'folder' | readonly (readonly [word: string, meaning: string])[];

/**
 * What can follow on a command line.
 * @param program - with the commands that are named in `words`
 * @param words - what was typed after the program's name; the last word is the one to complete, and may be empty
 */
export function offer(program: Command, words: readonly string[]): Offered {
  // bash makes three words of --option=value.
  const typed = words.filter((word, at) => word !== '=' || at === words.length - 1);
  const current = typed.at(-1) === '=' ? '' : (typed.at(-1) ?? '');
  const { command, valued, helping, given } = walk(program, typed.slice(0, -1));
  if (valued !== undefined) return valuesOf(valued.flags, valued.argChoices);
  const help = command.createHelp();
  const [flag, value] = current.split('=');
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].filter(
    ({ long }) => long !== '--version' || command.parent === null,
  );
  if (value !== undefined) {
    const option = options.find(({ long }) => long === flag);
    const values = option === undefined ? [] : valuesOf(option.flags, option.argChoices);
    return typeof values === 'string' ? values : values.map(([word, meaning]) => [`${flag}=${word}`, meaning]);
  }
  if (current.startsWith('-')) return options.map(({ long, description }) => [long ?? '', description]);
  const commands = help.visibleCommands(command).filter((one) => !helping || one.name() !== 'help');
  if (commands.length > 0) return commands.map((one) => [one.name(), one.summary() || one.description()]);
  const [first] = command.registeredArguments;
  return first === undefined || (given > 0 && !first.variadic) ? [] : argumentValues(first);
}

/** The command that the words name, and what they leave open. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let valued: Option | undefined;
  let helping = false;
  let given = 0;
  for (const word of words) {
    const below = command.commands.find((one) => one.name() === word);
    if (valued !== undefined) valued = undefined;
    else if (word.startsWith('-')) valued = optionWithValue(command, word);
    else if (below !== undefined) command = below;
    else if (word === 'help' && command.commands.length > 0) helping = true;
    else given += 1;
  }
  return { command, valued, helping, given };
}

function optionWithValue(command: Command, word: string): Option | undefined {
  return command.options.find(
    ({ long, short, required, optional }) => (required || optional) && (word === long || word === short),
  );
}

function argumentValues(argument: Argument): Offered {
  return valuesOf(`<${argument.name()}>`, argument.argChoices);
}

/** The name of a value says what it is: `<file>` and `<folder>` are looked for on disk. */
function valuesOf(flags: string, choices: readonly string[] | undefined): Offered {
  if (choices !== undefined) return choices.map((word) => [word, '']);
  const name = /<([^>.]+)(\.\.\.)?>/.exec(flags)?.[1];
  return name === 'file' || name === 'folder' ? name : [];
}
